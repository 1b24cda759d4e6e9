"""Names of other modules that are ours for a while, and theirs again afterwards."""

from __future__ import annotations

from typing import Any

_MISSING = object()


class Patches:
    """Remembers what each name was; `restore` puts it all back, last change first."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        self._before.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def set_all(self, owner: Any, **values: Any) -> None:
        for name, value in values.items():
            self.set(owner, name, value)

    def restore(self) -> None:
        while self._before:
            owner, name, value = self._before.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
