"""Long runs of numbered modules, as the layers of a model: the first, the last, and how many more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SHOWN_WHOLE = 4  # so many numbered siblings need no folding


@dataclass(frozen=True)
class Folded:
    """Stands for siblings that are not shown, and all below them."""

    parent: str
    count: int


def fold(paths: list[str]) -> Iterator[str | Folded]:
    """The paths, parents before children; of many numbered siblings the first and the last only."""
    hidden = _hidden(paths)
    told: set[str] = set()
    for path in paths:
        outermost = next((one for one in _and_above(path) if one in hidden), None)
        if outermost is None:
            yield path
            continue
        parent = outermost.rpartition(".")[0]
        if parent not in told:
            told.add(parent)
            yield Folded(parent, sum(one.rpartition(".")[0] == parent for one in hidden))


def _hidden(paths: list[str]) -> set[str]:
    numbered: dict[str, list[str]] = {}
    for path in paths:
        parent, _, name = path.rpartition(".")
        if name.isdigit():
            numbered.setdefault(parent, []).append(path)
    return {path for siblings in numbered.values() if len(siblings) > SHOWN_WHOLE
            for path in siblings[1:-1]}


def _and_above(path: str) -> Iterator[str]:
    """The path's parents, outermost first, then the path itself."""
    parts = path.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])
