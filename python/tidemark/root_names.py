"""The names of outermost modules: one rule for estimates and for live runs."""

from __future__ import annotations

from torch import nn


class RootNames:
    """By class; a second root of a class is told apart by a number: `Linear`, `Linear#2`."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def new_name(self, root: nn.Module) -> str:
        name = type(root).__name__
        self._counts[name] = number = self._counts.get(name, 0) + 1
        return name if number == 1 else f"{name}#{number}"
