"""Copies of modules: an average of the weights, a frozen teacher, a target network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from torch import nn

from tidemark.recording.replaced_method import ReplacedMethod

_all: list[WeakSet[nn.Module]] = []


def _noticed(original: Any) -> Callable[..., None]:
    def __setstate__(module: nn.Module, state: Any) -> None:
        original(module, state)
        for copies in _all:
            copies.add(module)

    return __setstate__


# `copy.deepcopy` makes a module without its __init__, and gives it what it has at the end.
_METHOD = ReplacedMethod(nn.Module, "__setstate__", _noticed)


class ModuleCopies:
    """While started, the modules that `copy.deepcopy` makes, or pickle."""

    def __init__(self) -> None:
        self._found: WeakSet[nn.Module] = WeakSet()
        self._is_started = False

    def start(self) -> None:
        _all.append(self._found)
        _METHOD.start()
        self._is_started = True

    def stop(self) -> None:
        if not self._is_started:
            return
        self._is_started = False
        _METHOD.stop()
        _all[:] = [found for found in _all if found is not self._found]

    def take_new(self, is_known: Callable[[nn.Module], bool]) -> list[nn.Module]:
        """The outermost of those that nobody was told of, but for what is known otherwise."""
        if not self._found:
            return []
        new = [module for module in self._found if not is_known(module)]
        self._found.clear()
        inner = {id(one) for module in new for one in module.modules() if one is not module}
        return [module for module in new if id(module) not in inner]
