"""Notices storages that the program makes without an operator: copies, files that are read.

`UntypedStorage(n)` asks an allocator of its own, which nobody hears. Deep copies and unpickled tensors
are made of such storages; what `torch.load` reads, of those that the reader of the file makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tidemark.recording.library import _recorder
from tidemark.recording.replaced_method import ReplacedMethod


def _noted_making(original: Any) -> Callable[..., None]:
    def __init__(storage: torch.UntypedStorage, *arguments: Any, **options: Any) -> None:
        original(storage, *arguments, **options)
        _recorder.note_made(storage._cdata)

    return __init__


def _noted_reading(original: Any) -> Callable[..., Any]:
    def get_storage_from_record(*arguments: Any, **options: Any) -> Any:
        read = original(*arguments, **options)
        _recorder.note_made(read.untyped_storage()._cdata)
        return read

    return get_storage_from_record


_METHODS = (
    ReplacedMethod(torch.UntypedStorage, "__init__", _noted_making),
    ReplacedMethod(torch._C.PyTorchFileReader, "get_storage_from_record", _noted_reading),
)


class MadeStorages:
    """While started, such storages are told to the recorder, and so to every tracker that runs."""

    def __init__(self) -> None:
        self._started: list[ReplacedMethod] = []

    def start(self) -> None:
        for method in _METHODS:
            method.start()
            self._started.append(method)

    def stop(self) -> None:
        while self._started:
            self._started.pop().stop()
