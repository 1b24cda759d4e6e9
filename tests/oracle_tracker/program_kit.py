"""What the programs have in common: how they are listed, a training loop, a small net."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn


@dataclass
class Program:
    """What is registered before the tracker is entered, and what runs inside."""

    external: list[Any]
    run: Callable[[Any], None]
    moments: dict[str, Any] = field(default_factory=dict)


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(build: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[build.__name__] = build
    return build


def training(
    model: nn.Module,
    batch: Any,
    optimizer: torch.optim.Optimizer | None = None,
    *,
    iterations: int = 1,
    backwards: int = 1,
    call: Callable[[nn.Module, Any], torch.Tensor] | None = None,
) -> Program:
    """Forward, backward and step, with a snapshot noted after each."""

    def forward(model: nn.Module, batch: Any) -> torch.Tensor:
        return model(batch).sum()

    def run(tracker: Any) -> None:
        for iteration in range(iterations):
            for backward in range(backwards):
                loss = (call or forward)(model, batch)
                note(program, tracker, f"{iteration}.{backward} forward")
                loss.backward()
                note(program, tracker, f"{iteration}.{backward} backward")
                del loss
            if optimizer is not None:
                optimizer.step()
                note(program, tracker, f"{iteration} step")
                optimizer.zero_grad()
            note(program, tracker, f"{iteration} end")
            if iteration + 1 < iterations:
                tracker.reset_mod_stats()

    program = Program([model, optimizer, batch], run)
    return program


def note(program: Program, tracker: Any, moment: str) -> None:
    program.moments[moment] = tracker.get_tracker_snapshot("current")


def collect_cycles() -> None:
    """PyTorch's hooks hold the graph in cycles (D26): about one a layer."""
    for _ in range(12):
        gc.collect()


def mlp(width: int = 64) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width), nn.GELU()
    )
