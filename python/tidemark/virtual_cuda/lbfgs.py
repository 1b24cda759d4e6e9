"""LBFGS does not stop early: whether it has arrived are values that nobody knows.

It would take made-up losses, which are all alike, for its goal, and stop before it has a history; that is
what it needs memory for. Once that is full, nothing changes from one iteration to the next.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.optim import lbfgs

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

# Of a change or a slope: nothing is as small.
TOLERANCES = ("tolerance_grad", "tolerance_change")
NEVER = float("-inf")


def patch_lbfgs(patches: Patches) -> None:
    patches.set(lbfgs.LBFGS, "step", _step(lbfgs.LBFGS.step))
    patches.set(lbfgs, "_strong_wolfe", _search(lbfgs._strong_wolfe))


def _step(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def step(optimizer: lbfgs.LBFGS, closure: Callable[[], Any]) -> Any:
        # A schedule may keep this method for longer than the virtual GPUs are open.
        parameters = optimizer.param_groups[0]["params"]
        if not library().is_open() or all(_is_known(parameter) for parameter in parameters):
            return original(optimizer, closure)

        def outside() -> Any:
            with _in_descent(False):
                return closure()

        with _without_goal(optimizer.param_groups[0]), _in_descent(True):
            return original(optimizer, outside)

    return step


def _is_known(tensor: torch.Tensor) -> bool:
    return not tensor.is_cuda or bool(library().certainty(tensor.untyped_storage()._cdata) == "known")


@contextmanager
def _without_goal(group: dict[str, Any]) -> Iterator[None]:
    before = {name: group[name] for name in (*TOLERANCES, "max_iter")}
    group.update(dict.fromkeys(TOLERANCES, NEVER))
    # The first has no change to keep; one more has them all.
    group["max_iter"] = min(group["max_iter"], group["history_size"] + 2)
    try:
        yield
    finally:
        group.update(before)


@contextmanager
def _in_descent(value: bool) -> Iterator[None]:
    before = library().set_in_descent(value)
    try:
        yield
    finally:
        library().set_in_descent(before)


def _search(original: Callable[..., Any]) -> Callable[..., Any]:
    """The first step's length is taken; the slope before it is kept while the new one is computed."""

    @functools.wraps(original)
    def search(evaluate: Callable[..., Any], x: Any, length: Any, direction: Any, loss: Any,
               slope: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if _is_known(direction):
            return original(evaluate, x, length, direction, loss, slope, *args, **kwargs)
        kept = slope.clone()
        new_loss, new_slope = evaluate(x, length, direction)
        del kept
        return new_loss, new_slope, length, 1

    return search
