"""Notices `UntypedStorage.resize_`, the one way to give a storage new memory that no operator shows."""

from __future__ import annotations

import weakref
from typing import Any

import torch

_active: list[ResizeFollower] = []
_all: weakref.WeakSet[ResizeFollower] = weakref.WeakSet()
_inherited: Any = None


class ResizeFollower:
    """Keeps a storage's category through resizes, also while it has no memory at all."""

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker
        _all.add(self)  # also after its tracker has stopped: storages it knows go on living
        self._emptied: dict[int, tuple[Any, tuple[int, int]]] = {}

    def start(self) -> None:
        if not _active:
            _replace_resize()
        _active.append(self)

    def stop(self) -> None:
        _active.remove(self)
        if not _active:
            _restore_resize()

    def before(self, storage: torch.UntypedStorage) -> tuple[int, int] | None:
        known: tuple[int, int] | None = self._tracker.find(storage._cdata)
        if known is None and storage._cdata in self._emptied:
            return self._emptied.pop(storage._cdata)[1]
        return known

    def after(self, storage: torch.UntypedStorage, before: tuple[int, int] | None) -> None:
        if before is None:
            return
        self._tracker.resized(storage._cdata, before)
        if storage.nbytes() == 0:
            number = storage._cdata
            gone = weakref.ref(storage, lambda _: self._emptied.pop(number, None))
            self._emptied[number] = (gone, before)


def _replace_resize() -> None:
    global _inherited
    original = torch.UntypedStorage.resize_
    _inherited = "resize_" not in vars(torch.UntypedStorage), original

    def resize_(storage: torch.UntypedStorage, size: int) -> Any:
        before = [(follower, follower.before(storage)) for follower in list(_all)]
        result = original(storage, size)
        for follower, known in before:
            follower.after(storage, known)
        return result

    torch.UntypedStorage.resize_ = resize_  # type: ignore[method-assign, assignment]


def _restore_resize() -> None:
    was_inherited, original = _inherited
    if was_inherited:
        del torch.UntypedStorage.resize_
    else:
        torch.UntypedStorage.resize_ = original  # type: ignore[method-assign]
