"""Names of other modules that are ours for a while, and theirs again afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

_MISSING = object()


class Patches:
    """Remembers what each name was; `restore` puts it all back, last change first."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner).get(name, _MISSING)
        self._undo.append(
            (lambda: delattr(owner, name)) if before is _MISSING
            else lambda: setattr(owner, name, before))
        setattr(owner, name, value)

    def call_afterwards(self, undo: Callable[[], None]) -> None:
        """For what is no name: a setting behind a function."""
        self._undo.append(undo)

    def set_all(self, owner: Any, **values: Any) -> None:
        for name, value in values.items():
            self.set(owner, name, value)

    def set_wherever_bound(self, owner: Any, answers: Mapping[str, Any]) -> None:
        """The owner's functions, in every loaded module that took one of them over by its name."""
        wanted = {id(vars(owner)[name]): answer for name, answer in answers.items()}
        for module in list(sys.modules.values()):
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if id(value) in wanted:
                    self.set(module, name, wanted[id(value)])

    def restore(self) -> None:
        while self._undo:
            self._undo.pop()()
