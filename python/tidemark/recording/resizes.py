"""Notices `UntypedStorage.resize_`, the one way to give a storage new memory that no operator shows.

C++ stands in the method's place, and tells every tracker of the process; whoever counts in Python is
told after it.
"""

from __future__ import annotations

import contextlib
import weakref
from functools import partial
from typing import Any, Protocol

import torch

from tidemark.recording.library import _recorder
from tidemark.recording.replaced_method import ReplacedMethod


class ResizeHearer(Protocol):
    """Who counts in Python."""

    def _look_at_size(self, storage: torch.UntypedStorage) -> None: ...


_hearers: dict[int, weakref.ref[Any]] = {}


def tell_of_resizes(hearer: ResizeHearer) -> None:
    """Of all of them while they are followed, for as long as the hearer lives."""
    number = id(hearer)
    _hearers[number] = weakref.ref(hearer, lambda _: _hearers.pop(number, None))


def _tell(storage: torch.UntypedStorage) -> None:
    for alive in list(_hearers.values()):
        hearer = alive()
        if hearer is not None:
            with contextlib.suppress(Exception):  # an error of ours is not the program's
                hearer._look_at_size(storage)


_RESIZE = ReplacedMethod(torch.UntypedStorage, "resize_",
                         partial(_recorder.followed_resize, hearers=_hearers, tell=_tell))


class ResizeFollower:
    """While started, storages keep their category through resizes, also while they have no memory."""

    def __init__(self) -> None:
        self._is_active = False

    def start(self) -> None:
        _RESIZE.start()
        self._is_active = True

    def stop(self) -> None:
        if self._is_active:
            self._is_active = False
            _RESIZE.stop()
