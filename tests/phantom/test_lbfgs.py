"""LBFGS on virtual GPUs: as many evaluations, and as long a history, as on the CPU while nothing has converged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tidemark.virtual_cuda import close_gpus, lbfgs, library

SIZE = 40_000  # too many for their values to be kept
WEIGHTS = SIZE + 1


def descend(device: str, steps: int, **options: Any) -> list[tuple[int, int, int]]:
    """After each step: how often the closure was called so far, iterations, and pairs in the history."""
    torch.manual_seed(0)
    model = nn.Linear(SIZE, 1).to(device)
    x, y = torch.randn(4, SIZE).to(device), torch.randn(4, 1).to(device)
    # A tenth of the way in each iteration: the goal is never reached.
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, tolerance_grad=0, tolerance_change=0, **options)
    calls, told = 0, []

    def closure() -> torch.Tensor:
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = (model(x) - y).square().sum()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
        state = optimizer.state[next(model.parameters())]
        told.append((calls, state["n_iter"], len(state["old_dirs"])))
    assert optimizer.param_groups[0]["tolerance_grad"] == optimizer.param_groups[0]["tolerance_change"] == 0
    return told


@pytest.mark.usefixtures("gpus")
def test_a_step_goes_all_of_its_iterations() -> None:
    told = descend("cuda", 3, max_iter=5, history_size=8)
    assert told == descend("cpu", 3, max_iter=5, history_size=8)
    assert told == [(5, 5, 4), (10, 10, 8), (15, 15, 8)]  # the first has no change to keep


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_long_step_ends_when_its_history_is_full(search: str | None) -> None:
    """Its default history, and questions that would have been turned after 200 of them."""
    told = descend("cuda", 2, max_iter=50_000, history_size=100, line_search_fn=search)
    assert told[0][1:] == (102, 100)
    assert told[1][1:] == (204, 100)
    assert not [note for note in library().diagnostics() if note["code"] == "ended-loop"]


@pytest.mark.usefixtures("gpus")
def test_a_line_search_looks_once() -> None:
    """PyTorch allows a quarter more looks than iterations, the first of a step included."""
    assert descend("cuda", 2, max_iter=8, line_search_fn="strong_wolfe") == [(9, 8, 7), (18, 16, 15)]


@pytest.mark.usefixtures("gpus")
def test_its_history_is_in_memory() -> None:
    def held(history: int) -> int:
        model = nn.Linear(SIZE, 1).cuda()
        x = torch.randn(4, SIZE).cuda()
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=12, history_size=history)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        torch.cuda.synchronize()
        held = torch.cuda.memory_allocated()
        del optimizer
        return held

    pair = 2 * ((WEIGHTS * 4 + 511) // 512 * 512)  # a direction and a step
    pair += 2 * 512  # and two numbers: the curvature between them, and how much of it is taken
    assert held(9) - held(4) == 5 * pair


def parabola(optimizer: torch.optim.LBFGS, x: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss = (x * x).sum()
    loss.backward()
    return loss


@pytest.mark.usefixtures("gpus")
def test_what_is_known_is_computed_and_converges() -> None:
    def steps(device: str) -> tuple[int, list[float]]:
        x = torch.ones(3, device=device, requires_grad=True)
        optimizer = torch.optim.LBFGS([x], max_iter=20)

        optimizer.step(lambda: parabola(optimizer, x))
        return optimizer.state[x]["func_evals"], x.tolist()

    assert steps("cuda") == steps("cpu")
    assert steps("cpu")[0] < 20


def test_a_closure_is_not_in_the_descent(open_session: Callable[..., Any]) -> None:
    open_session()
    weights = torch.randn(SIZE, device="cuda", requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=3)
    seen = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = weights.dot(weights)
        loss.backward()
        seen.append(bool(loss > 0.5))  # made up: no, outside of a descent as well
        return loss

    optimizer.step(closure)
    outside = bool(torch.randn(SIZE, device="cuda").dot(weights.detach()) > 0.5)
    assert seen == [outside] * 3 == [False] * 3
    with pytest.raises(ZeroDivisionError):
        optimizer.step(lambda: 1 / 0)
    assert bool(weights.detach().dot(weights.detach()) > 0.5) is False
    assert optimizer.param_groups[0]["tolerance_grad"] == 1e-7


def test_a_schedule_that_outlives_the_gpus_keeps_its_goal(
    open_session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch,
) -> None:
    # So it would say of the tensors of a real GPU, which nobody has here.
    monkeypatch.setattr(lbfgs, "_is_known", lambda tensor: False)

    class Own(torch.optim.LBFGS):
        pass

    open_session()
    x = torch.ones(3, requires_grad=True)
    optimizer = Own([x], max_iter=20)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    close_gpus()

    optimizer.step(lambda: parabola(optimizer, x))
    schedule.step()
    assert optimizer.state[x]["func_evals"] < 20
