"""What every follower of optimizers needs: steps under way, steps made, the tensors of a state."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.optim import Optimizer

from tidemark._engine import _plain_state_tensors, _without_optimized


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
        self.optimizers = 0  # that have stepped

    def are_made(self, optimizer: Optimizer) -> bool:
        """Counts one more step of this optimizer; whether that was the last that is wanted."""
        self.optimizers += optimizer not in self._made
        self._made[optimizer] = self._made.get(optimizer, 0) + 1
        return 0 < self._wanted <= min(self._made.values())


class LabelledStates:
    """The optimizers whose parameters and state have their labels. They stay what they are from step
    to step, unless a step makes something, there is more of them, or a state was loaded."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Optimizer, tuple[int, int, int]] = WeakKeyDictionary()

    def add(self, optimizer: Optimizer) -> None:
        self._known[optimizer] = self._look_of(optimizer)

    def __contains__(self, optimizer: Optimizer) -> bool:
        return self._known.get(optimizer) == self._look_of(optimizer)

    @staticmethod
    def _look_of(optimizer: Optimizer) -> tuple[int, int, int]:
        parameters = sum(len(group["params"]) for group in optimizer.param_groups)
        return parameters, len(optimizer.state), id(optimizer.state)  # a loaded one is another object


def with_followed_closure(
    set_in_closure: Callable[[bool], None], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a step, `args` with the optimizer first, whose closure tells when it runs; None
    for a step without one."""
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    if not callable(closure):
        return None

    @wraps(closure)
    def followed(*given: Any, **named: Any) -> Any:
        set_in_closure(True)
        try:
            return closure(*given, **named)
        finally:
            set_in_closure(False)

    if len(args) > 1:
        return (args[0], followed, *args[2:]), kwargs
    return args, {**kwargs, "closure": followed}


# Whatever refers to these, they are no state, and their tensors are somebody else's.
_NOT_OPENED = (int, float, str, bytes, type(None),
               nn.Module, Optimizer, ModuleType, FunctionType, MethodType, type)


def state_tensors(optimizer: Optimizer) -> list[torch.Tensor]:
    """Every tensor that can be reached from the optimizer's state, or is held in its groups and
    attributes, but for what it optimizes."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    found = (_plain_state_tensors(optimizer.state, torch.Tensor)
             if type(optimizer.state) in (dict, defaultdict) else None)
    if found is None:
        found = [one for state in optimizer.state.values() for one in tensors_below(state)]
    found += tensors_below(_held_besides(optimizer), opens_objects=False)
    return _without_optimized(found, parameters)


def _held_besides(optimizer: Optimizer) -> list[Any]:
    """What an optimizer keeps elsewhere than in its state: in its groups, and as attributes."""
    of_groups = [value for group in optimizer.param_groups
                 for name, value in group.items() if name != "params"]
    own = [value for name, value in vars(optimizer).items()
           if name not in ("state", "param_groups", "defaults")]
    return of_groups + own


class _Closed(dict[type, bool]):
    """Whether objects of a kind are never opened."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = issubclass(kind, _NOT_OPENED)
        return self[kind]


_closed = _Closed()


def tensors_below(value: Any, *, opens_objects: bool = True) -> Iterator[torch.Tensor]:
    """In containers and in the attributes of objects, however deep; each object is opened once."""
    opened: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if _closed[type(one)]:
            continue
        if isinstance(one, torch.Tensor):
            yield one
            continue
        if id(one) in opened:
            continue
        opened.add(id(one))
        if isinstance(one, (list, tuple, set, frozenset, deque)):
            waiting.extend(one)
        elif isinstance(one, (dict, Mapping)):
            waiting.extend(one.values())
        elif opens_objects:
            waiting.extend(getattr(one, "__dict__", {}).values())
