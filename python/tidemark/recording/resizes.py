"""Notices `UntypedStorage.resize_`, the one way to give a storage new memory that no operator shows."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from tidemark.recording.replaced_method import ReplacedMethod

_all: dict[int, weakref.ref[ResizeFollower]] = {}


class ResizeFollower:
    """Keeps a storage's category through resizes, also while it has no memory at all."""

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker
        # Also after its tracker has stopped: storages it knows go on living.
        number = id(self)
        _all[number] = weakref.ref(self, lambda _: _all.pop(number, None))
        self._emptied: dict[int, tuple[Any, tuple[int, int]]] = {}
        self._is_active = False

    def start(self) -> None:
        _RESIZE.start()
        self._is_active = True

    def stop(self) -> None:
        if self._is_active:
            self._is_active = False
            _RESIZE.stop()

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

    def give_up(self, problem: Exception) -> None:
        if self._tracker is not None:
            self._tracker.give_up(repr(problem))


def _followed(original: Any) -> Callable[[torch.UntypedStorage, int], Any]:
    def resize_(storage: torch.UntypedStorage, size: int) -> Any:
        followers = [one for one in (alive() for alive in list(_all.values())) if one is not None]
        before = [(one, _try(one, one.before, storage)) for one in followers]
        result = original(storage, size)
        for follower, known in before:
            _try(follower, follower.after, storage, known)
        return result

    return resize_


def _try(follower: ResizeFollower, work: Callable[..., Any], *arguments: Any) -> Any:
    """An error of ours ends the tracking, not the program's resize."""
    try:
        return work(*arguments)
    except Exception as problem:
        follower.give_up(problem)
        return None


_RESIZE = ReplacedMethod(torch.UntypedStorage, "resize_", _followed)
