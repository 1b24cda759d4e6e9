"""What every follower of optimizers needs: steps under way, steps made, the tensors of a state."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.optim import Optimizer


def steps_under_way() -> int:
    """How many steps of optimizers are on this thread's stack.

    Counting begins and ends would not do: a step that raises never says that it ended, and one
    that calls the step it overrides begins twice.
    """
    file = sys.modules[Optimizer.__module__].__file__
    frame: FrameType | None = sys._getframe(1)
    found = 0
    while frame is not None:
        found += frame.f_code.co_name == "wrapper" and frame.f_code.co_filename == file
        frame = frame.f_back
    return found


class WantedSteps:
    """So many steps of every optimizer that steps at all, and lives; 0 is without end."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._made: WeakKeyDictionary[Optimizer, int] = WeakKeyDictionary()

    def are_made(self, optimizer: Optimizer) -> bool:
        """Counts one more step of this optimizer; whether that was the last that is wanted."""
        self._made[optimizer] = self._made.get(optimizer, 0) + 1
        return 0 < self._wanted <= min(self._made.values())


# Not state, whatever refers to them: their tensors are somebody else's.
_NOT_OPENED = (nn.Module, Optimizer, ModuleType, FunctionType, MethodType, type)


def state_tensors(optimizer: Optimizer) -> list[torch.Tensor]:
    """Every tensor that can be reached from the optimizer's state, but for what it optimizes."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    gradients = [one.grad for one in parameters if one.grad is not None]
    others = {id(tensor) for tensor in (*parameters, *gradients)}
    found = [one for state in optimizer.state.values() for one in _tensors_below(state)]
    return [one for one in found if id(one) not in others]


def _tensors_below(value: Any) -> Iterator[torch.Tensor]:
    """In containers and in the attributes of objects, however deep; each object is opened once."""
    opened: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, torch.Tensor):
            yield one
            continue
        if isinstance(one, (int, float, str, bytes, type(None), *_NOT_OPENED)) or id(one) in opened:
            continue
        opened.add(id(one))
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple, set, frozenset, deque)):
            waiting.extend(one)
        else:
            waiting.extend(getattr(one, "__dict__", {}).values())
