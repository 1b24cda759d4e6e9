"""A method of PyTorch's that is another one for as long as somebody needs that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tidemark.recording.fork_safe_lock import ForkSafeLock


class ReplacedMethod:
    """`make` is given the original, and returns what stands in its place from the first start to the
    last stop."""

    def __init__(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        self._owner, self._name, self._make = owner, name, make
        self._starts = 0
        self._lock = ForkSafeLock()
        self._original: Any = None
        self._is_inherited = False

    def start(self) -> None:
        with self._lock:
            if self._starts == 0:
                self._original = getattr(self._owner, self._name)
                self._is_inherited = self._name not in vars(self._owner)
                setattr(self._owner, self._name, self._make(self._original))
            self._starts += 1

    def stop(self) -> None:
        with self._lock:
            self._starts -= 1
            if self._starts > 0:
                return
            if self._is_inherited:
                delattr(self._owner, self._name)
            else:
                setattr(self._owner, self._name, self._original)


class ReplacedHook:
    """The same of a hook in a module's table, which keeps its number and its place there."""

    def __init__(self, hooks: dict[int, Any], number: int, make: Callable[[Any], Any]) -> None:
        self._hooks, self._number, self._make = hooks, number, make
        self._original: Any = None
        self._ours: Any = None

    def start(self) -> None:
        self._original = self._hooks[self._number]
        self._ours = self._hooks[self._number] = self._make(self._original)

    def stop(self) -> None:
        if self._hooks.get(self._number) is self._ours:
            self._hooks[self._number] = self._original


class ReplacedMethods:
    """Several of them, started and stopped as one: all or none."""

    def __init__(self, methods: Iterable[ReplacedMethod | ReplacedHook]) -> None:
        self._methods = list(methods)

    def start(self) -> None:
        for count, method in enumerate(self._methods):
            try:
                method.start()
            except BaseException:
                for started in reversed(self._methods[:count]):
                    started.stop()
                raise

    def stop(self) -> None:
        for method in reversed(self._methods):
            method.stop()
