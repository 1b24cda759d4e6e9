"""What data flow tells of a run beside what the program itself tells: the same births, two labels.

`tidemark.track` knows modules and optimizers by hooks; `tidemark.profile` infers. Where they differ,
the table here says who is right.
"""

from collections import Counter

import torch
from torch import nn

import tidemark

SAME = ("Parameter", "Gradient", "OptimizerState", "Input", "Activation")
# (track, profile): why. Bytes of such births are a small part of the run.
DIFFERENT = {
    ("Temporary", "AutogradDetail"): "two words: what only backward uses",
    ("Temporary", "Unknown"): "track: optimizer scratch; data flow cannot say",
    ("Temporary", "Input"): "track: numbers that Adam makes; no gradient flows into them",
    ("Temporary", "Parameter"): "track: Adam's scratch; a parameter's gradient flows through it",
    ("Temporary", "Activation"): "track: likewise",
    ("Activation", "Temporary"): "profile: it lives only inside of one operator",
    ("Activation", "Unknown"): "neither: arm64 packs a weight inside of linear; no data flow tells of it",
}


def births(tape: tidemark.Tape) -> list[tuple[int, str]]:
    """Bytes and last category of every storage, by birth."""
    rows: list[list[object]] = []
    alive: dict[int, list[object]] = {}
    for event in tape:
        if event.kind.name == "Alloc":
            alive[event.storage] = [event.bytes, event.category.name]
            rows.append(alive[event.storage])
        elif event.kind.name == "Relabel":
            alive[event.storage][1] = event.category.name
    return [tuple(row) for row in rows]


def run() -> tuple[tidemark.Tape, tidemark.Tape]:
    model = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 32))
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    x, y = torch.rand(16, 64), torch.rand(16, 32)
    with tidemark.track(model, optimizer, x, y) as tracking, tidemark.profile() as profiling:
        for _ in range(2):
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
    return tracking.tape, profiling.tape


def test_the_same_births_and_the_same_peak() -> None:
    tracked, profiled = run()
    assert sorted(b for b, _ in births(tracked)) == sorted(b for b, _ in births(profiled))
    peaks = [tape.peak().devices[0].allocated_bytes for tape in (tracked, profiled)]
    assert peaks[0] == peaks[1]
    assert list(profiled.verify()) == []
    assert profiled.steps == tracked.steps == 2


def test_labels_agree_but_where_the_reason_is_known() -> None:
    tracked, profiled = (births(tape) for tape in run())
    sizes = {size for size, _ in tracked if size > 8}
    pairs: Counter[tuple[str, str]] = Counter()
    for size in sizes:  # births of one size come in the same order
        one, other = ([label for s, label in some if s == size] for some in (tracked, profiled))
        pairs.update(zip(one, other, strict=True))
    for pair in pairs:
        assert pair[0] == pair[1] or pair in DIFFERENT, pair
    for label in SAME:
        assert pairs[label, label] > 0, label
    # Parameters and their likes, of which a model is made, are never mistaken for others.
    for label in ("Parameter", "Gradient", "OptimizerState", "Input"):
        assert [pair for pair in pairs if pair[0] == label] == [(label, label)]
