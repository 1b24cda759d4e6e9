"""Modules, phases and categories of a run on virtual GPUs, read back from its tape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import tidemark
from tidemark import Category, Phase
from tidemark.estimation.modules import ModuleCalls
from tidemark.estimation.steps import OptimizerSteps

WIDTH = 256
WEIGHT = 4 * WIDTH * WIDTH  # 262 144 bytes, no rounding
ROWS = 4 * 64 * WIDTH  # a batch of 64


class Net(nn.Module):
    def __init__(self, checkpoints: bool) -> None:
        super().__init__()
        self.checkpoints = checkpoints
        self.first = nn.Sequential(nn.Linear(WIDTH, WIDTH, bias=False), nn.Sigmoid())
        self.last = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.checkpoints:
            return self.last(checkpoint(self.first, x, use_reentrant=False))
        return self.last(self.first(x))


def train(open_session: Callable[..., Any], path: Path, checkpoints: bool = False) -> Any:
    """Two steps; the tape, read from its file."""
    library = open_session(save=str(path))
    modules = ModuleCalls()
    steps = OptimizerSteps(0, 0, lambda step: None, modules.label_copies)
    modules.watch()
    steps.watch()
    net = Net(checkpoints).cuda()
    optimizer = torch.optim.Adam(net.parameters(), foreach=True)
    for _ in range(2):
        net(torch.empty(64, WIDTH, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    modules.stop()
    steps.stop()
    library.finish()
    return tidemark.open(path)


def scope_of(tape: Any, path: str) -> Any:
    return next(scope for scope in tape.scopes().scopes if scope.path == path)


def test_modules_are_named_and_own_their_parameters(open_session: Any, tmp_path: Path) -> None:
    tape = train(open_session, tmp_path / "run.tape")
    assert not list(tidemark.verify(tape))
    paths = [scope.path for scope in tape.scopes().scopes]
    assert paths == ["Net", "Net.first", "Net.first.0", "Net.first.1", "Net.last"]
    assert scope_of(tape, "Net.first").parameter_bytes == WEIGHT
    assert scope_of(tape, "Net").parameter_bytes == 2 * WEIGHT


def test_each_module_runs_forward_and_backward_once_a_step(open_session: Any, tmp_path: Path) -> None:
    tape = train(open_session, tmp_path / "run.tape")
    for path in ("Net", "Net.first.0", "Net.last"):
        calls = {phase.phase: phase.calls for phase in scope_of(tape, path).phases}
        assert calls == {Phase.Forward: 2, Phase.Backward: 2}, path


def test_a_checkpointed_module_is_recomputed(open_session: Any, tmp_path: Path) -> None:
    tape = train(open_session, tmp_path / "run.tape", checkpoints=True)
    calls = {phase.phase: phase.calls for phase in scope_of(tape, "Net.first").phases}
    assert calls == {Phase.Forward: 2, Phase.Recompute: 2, Phase.Backward: 2}
    assert Phase.Recompute not in {p.phase for p in scope_of(tape, "Net.last").phases}


def test_the_peak_in_the_first_optimizer_step_knows_state_from_scratch(
    open_session: Any, tmp_path: Path
) -> None:
    """Both moments of both weights, and for each weight one square root of scratch."""
    peak = train(open_session, tmp_path / "run.tape").peak(step=1).devices[0]
    assert peak.at.phase == Phase.Optimizer
    categories = peak.categories
    assert categories[Category.Parameter] == categories[Category.Gradient] == 2 * WEIGHT
    steps = 2 * 512  # Adam's step counts, if they are on the device
    assert 4 * WEIGHT <= categories[Category.OptimizerState] <= 4 * WEIGHT + steps
    assert categories[Category.Temporary] == 2 * WEIGHT
    assert Category.Input not in categories  # the batch is gone by then


def test_activations_belong_to_the_module_that_made_them(open_session: Any, tmp_path: Path) -> None:
    """Before the backward: the linear layer's result dies, the sigmoid's is kept by both."""
    tape = train(open_session, tmp_path / "run.tape")
    forward = next(p for p in scope_of(tape, "Net.last").phases if p.phase == Phase.Forward)
    # At the end of the last layer: input, sigmoid's result, own result; moments in the second step.
    activations = forward.devices[0].peak_categories[Category.Activation]
    assert activations == 2 * ROWS
    assert forward.devices[0].peak_categories[Category.OptimizerState] >= 4 * WEIGHT
