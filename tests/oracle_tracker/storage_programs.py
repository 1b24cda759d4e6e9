"""Programs whose storages are resized, given, without memory, or left behind by an error."""

from __future__ import annotations

import copy
from typing import Any

import torch
from program_kit import Program, collect_cycles, mlp, note, program, training
from torch import nn


@program
def storage_resizes() -> Program:
    held = torch.zeros(1000)
    model = nn.Linear(16, 16)

    def run(tracker: Any) -> None:
        model(batch).sum().backward()
        for size in (8000, 2000, 0, 4000):
            held.untyped_storage().resize_(size)
            torch.ones(1)
            note(program, tracker, f"size {size}")
        made = torch.zeros(10)
        made.resize_(500)
        torch.ones(1)
        note(program, tracker, "tensor resized")
        made.untyped_storage().resize_(64)
        note(program, tracker, "and shrunk")

    batch = torch.randn(8, 16)
    program = Program([held, model, batch], run)
    return program


@program
def results_into_given_tensors() -> Program:
    a, b = torch.randn(50), torch.randn(50)

    def run(tracker: Any) -> None:
        out = torch.empty(0)
        torch.add(a, b, out=out)
        note(program, tracker, "out grown")
        torch.mul(a[:10], 3.0, out=out[:10])
        c = a * 2.0 + 1
        c += b
        note(program, tracker, "scalars and in place")
        values, order = torch.topk(c, 5)
        torch.cat([a, b, values])
        note(program, tracker, "topk and cat")

    program = Program([a, b], run)
    return program


@program
def meta_device() -> Program:
    model = mlp().to("meta")
    return training(model, torch.randn(32, 64, device="meta"))


class Renamed(nn.Sequential):
    """Two roots of one class would share a name in PyTorch's tracker (D17)."""


@program
def cpu_and_meta() -> Program:
    model = mlp(16)
    twin = Renamed(*copy.deepcopy(model)).to("meta")
    batch = torch.randn(8, 16)

    def run(tracker: Any) -> None:
        loss = model(batch).sum()
        shadow = twin(batch.to("meta")).sum()
        note(program, tracker, "both forward")
        loss.backward()
        shadow.backward()
        note(program, tracker, "both backward")

    program = Program([model, twin, batch], run)
    return program


class Raises(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.tail = mlp(16), nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.tail(self.body(x)[:, :4])


@program
def exception_in_forward() -> Program:
    model = Raises()
    batch = torch.randn(8, 16)

    def run(tracker: Any) -> None:
        try:
            model(batch)
        except RuntimeError:
            pass
        collect_cycles()
        note(program, tracker, "after the exception")

    program = Program([model, batch], run)
    return program
