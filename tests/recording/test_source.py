"""`record --source`: the line, the operator and the shape of what a program makes.

The oracle is the estimate of the same script, which knows them from its own kernel, and Python's own
word on where a line is.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path

import torch
from forked_commands import run_command

import tidemark

SCRIPT = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

device = "cuda" if torch.cuda.is_available() else "cpu"

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 96), nn.Linear(96, 48)
        self.norm = nn.LayerNorm(48)
    def forward(self, x):
        h = self.first(x)
        h = torch.tanh(h)
        h = checkpoint(self.block, h, use_reentrant=False)
        return self.norm(h)
    def block(self, h):
        h = self.second(h)
        return h.sigmoid()

model = Net()
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    x = torch.randn(32, 64, device=device)
    loss = model(x).pow(2).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# What a CPU makes otherwise: a checkpoint's random state, and what is too small to be told apart.
SMALLEST = 512
RANDOM_STATE = 5056

Made = tuple[str, str, int]  # line, phase, bytes


def line_of(text: str) -> int:
    return SCRIPT.splitlines().index(text) + 1


def made_by_lines(verb: str, script: Path, *flags: str) -> Counter[Made]:
    """What was made on which line of the script, in steps; parameters move on GPUs alone."""
    path = script.with_name(f"{verb}.tape")
    done = run_command(verb, *flags, "--save", path, script, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stderr
    tape = tidemark.open(path)
    made: Counter[Made] = Counter()
    steps = 0
    for event in (tape.events[i] for i in range(len(tape))):
        steps += event.kind.name == "Step"
        counts = event.kind.name == "Alloc" and event.category.name not in ("Workspace", "Parameter")
        if steps and counts and event.bytes >= SMALLEST and event.bytes != RANDOM_STATE:
            made[event.source, event.phase.name, event.bytes] += 1
    return made


def test_lines_are_those_of_the_estimate(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    estimated = made_by_lines("estimate", script, "--steps", "0")
    recorded = made_by_lines("record", script, "--source")
    assert recorded == estimated
    where = {(source.rpartition(":")[2], phase) for source, phase, _ in recorded}
    forward = str(line_of("        h = torch.tanh(h)"))
    recomputed = str(line_of("        return h.sigmoid()"))
    assert {(forward, "Forward"), (forward, "Backward")} <= where
    assert {(recomputed, "Forward"), (recomputed, "Recompute")} <= where
    assert (str(line_of("    optimizer.step()")), "Optimizer") in where


def births(tape: tidemark.Tape) -> list[tuple[str, str, int]]:
    """Operator, shape of the result and line of all that counts."""
    return [(event.op, event.signature, int(event.source.rpartition(":")[2] or 0))
            for event in (tape.events[i] for i in range(len(tape)))
            if event.kind.name == "Alloc" and event.category.name != "Workspace"]


def test_operators_types_and_shapes() -> None:
    x = torch.randn(64, 256)
    kept = []
    with tidemark.track(source=True) as tracking:
        here = sys._getframe().f_lineno
        kept.append(x.bfloat16())
        kept.append(torch.arange(128).double())
        kept.extend(torch.split(x.clone(), 32))
    found = [one for one in births(tracking.tape) if here < one[2] < here + 4]
    assert found == [
        ("aten::_to_copy", " -> bf16[64,256]", here + 1),
        ("aten::arange", " -> i64[128]", here + 2),
        ("aten::_to_copy", " -> f64[128]", here + 2),
        ("aten::clone", " -> f32[64,256]", here + 3),
    ]
    site = tracking.report()
    assert "bf16[64,256]" in site and "aten::_to_copy" in site


def test_a_storage_made_in_a_thread_has_the_threads_line() -> None:
    made: dict[str, tuple[int, torch.Tensor]] = {}

    def make(name: str) -> None:
        made[name] = (sys._getframe().f_lineno, torch.ones(1024))

    with tidemark.track(source=True) as tracking:
        threads = [threading.Thread(target=make, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = [line for op, _, line in births(tracking.tape) if op == "aten::ones"]
    assert lines == [line for line, _ in made.values()]


def test_who_starts_later_hears_the_lines_too() -> None:
    kept = []
    with tidemark.track(source=True) as outer:
        for _ in range(2):
            with tidemark.track(source=True) as inner:
                here = sys._getframe().f_lineno
                kept.append(torch.ones(4096))
            assert [one[2] for one in births(inner.tape)] == [here + 1]
    assert [one[2] for one in births(outer.tape)] == [here + 1] * 2


def test_without_it_nothing_is_said_of_lines() -> None:
    with tidemark.track() as tracking:
        kept = torch.ones(1024)
    assert births(tracking.tape) == [("", "", 0)] and kept.numel() == 1024
