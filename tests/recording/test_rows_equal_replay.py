"""The live tracker keeps rows of its own, for speed; the replay of the tape it writes has the same.

Random programs: modules of random shape, checkpointed or not, frozen or not, tensors kept, resized
and let go, optimizers, steps. In the middle and at the end the tracker's rows, by device and
category, are those of the tape's timeline at that event, and its peak is the tape's. (Rows do not
count what lives only inside operators, as PyTorch's tracker does not; where the tape was asked to
have it, its peak may be higher.)
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import tidemark

# What a row tells apart, in its order; all else is Other there.
OF_A_ROW = ("Parameter", "Buffer", "Gradient", "Activation", "Temporary", "OptimizerState",
            "ShardedParameter", "UnshardedParameter", "ShardedGradient", "UnshardedGradient",
            "AllGather", "ReduceScatter", "Other")

Row = tuple[dict[str, int], int]  # bytes by category, and their sum


class Chain(nn.Module):
    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        widths = [chance.choice([4, 8, 32]) for _ in range(chance.randint(2, 5))]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.again = {i for i in range(len(self.layers)) if chance.random() < 0.3}
        self.norm = nn.BatchNorm1d(widths[-1]) if chance.random() < 0.5 else nn.Identity()
        self.width = widths[0]
        for layer in self.layers:
            layer.weight.requires_grad_(chance.random() < 0.8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.layers):
            is_again = number in self.again
            x = checkpoint(layer, x, use_reentrant=False) if is_again else layer(x).relu()
        return self.norm(x)


class Watched:
    """A run whose tracker is asked now and then."""

    def __init__(self, tracking: Any) -> None:
        self.tracking = tracking
        self.seen: list[tuple[int, dict[str, Row]]] = []

    def ask(self) -> None:
        rows = read_rows(self.tracking._tracker.current())
        self.seen.append((self.tracking._tracker.events, rows))


def read_rows(rows: list[tuple[str, list[int]]]) -> dict[str, Row]:
    return {
        device: ({name: one for name, one in zip(OF_A_ROW, bytes_) if one}, bytes_[-1])
        for device, bytes_ in rows
    }


def make_optimizer(model: nn.Module, chance: random.Random) -> Any:
    kinds = [torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop]
    wanting = [p for p in model.parameters() if p.requires_grad]
    return chance.choice(kinds)(wanting, lr=0.01) if wanting else None


def run_program(chance: random.Random, watched: Watched) -> None:
    model = Chain(chance)
    optimizer = make_optimizer(model, chance)
    kept: list[torch.Tensor] = []
    for _ in range(chance.randint(1, 3)):
        x = torch.randn(chance.randint(2, 6), model.width)
        result = model(x)
        watched.ask()
        if result.requires_grad:
            result.pow(2).sum().backward()
        if optimizer:
            optimizer.step()
        if optimizer and chance.random() < 0.7:
            optimizer.zero_grad(set_to_none=chance.random() < 0.7)
        keep_and_let_go(kept, result, chance)
        watched.ask()


def keep_and_let_go(kept: list[torch.Tensor], result: torch.Tensor, chance: random.Random) -> None:
    kept.append(result.detach().clone())
    if chance.random() < 0.5:
        kept.append(torch.empty(chance.randint(1, 100), dtype=torch.uint8))
        kept[-1].untyped_storage().resize_(chance.randint(0, 300))
    while kept and chance.random() < 0.4:
        kept.pop(chance.randrange(len(kept)))


def replayed(tape: tidemark.Tape, events: int) -> dict[str, Row]:
    """What is alive after so many events, by the tape's own timeline."""
    rows = {}
    for device in tape.timeline(columns=0).devices:
        before = [point for point in device.points if point.event < events]
        if before and before[-1].highest:
            rows[device.device] = row_of(before[-1].categories, before[-1].highest)
    return rows


def row_of(categories: dict[Any, int], total: int) -> Row:
    row: dict[str, int] = {}
    for category, one in categories.items():
        name = category.name if category.name in OF_A_ROW else "Other"
        if one:
            row[name] = row.get(name, 0) + one
    return row, total


@pytest.mark.parametrize("seed", range(40))
def test_the_trackers_rows_are_those_of_its_tape(seed: int) -> None:
    chance = random.Random(seed)
    torch.manual_seed(seed)
    has_workspaces = chance.random() < 0.5
    tracking = tidemark.track(operators=has_workspaces)
    watched = Watched(tracking)
    with tracking:
        run_program(chance, watched)
        watched.ask()
        peak = read_rows(tracking._tracker.peak())
    tape = tracking.tape
    assert not list(tape.verify())
    assert any(rows for _, rows in watched.seen)
    for events, rows in watched.seen:
        assert rows == replayed(tape, events), f"after {events} events"
    on_tape = {one.device: row_of(one.categories, one.allocated_bytes)
               for one in tape.peak().devices}
    if has_workspaces:
        assert all(peak[device][1] <= on_tape[device][1] for device in peak)
    else:
        assert peak == on_tape
