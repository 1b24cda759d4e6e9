"""Births on GPUs, heard from CUDA's allocator once the program uses a GPU; we never wake one up."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from tidemark.recording.library import _recorder

Tell = Callable[[Exception], None]
_awaiting: list[weakref.WeakMethod[Tell]] = []
_is_queued = False


def hear_gpus(tell_unheard: Tell) -> None:
    """At once, or as soon as CUDA is initialized. Where the allocator does not let anybody listen,
    `tell_unheard` (a method, not kept alive) is called with its error."""
    global _is_queued
    built: Any = torch.backends.cuda  # torch does not type it
    if not built.is_built():  # no question that wakes CUDA up
        return
    _awaiting.append(weakref.WeakMethod(tell_unheard))
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        _attach()
    elif not _is_queued:
        _is_queued = True
        torch.cuda._lazy_call(_attach)  # type: ignore[no-untyped-call]


def _attach() -> None:
    """Runs inside the program's own first use of a GPU: nothing may come out of it."""
    waiting = _awaiting[:]
    del _awaiting[:len(waiting)]
    try:
        _recorder.attach_cuda_trace()
    except Exception as error:
        for alive in waiting:
            tell = alive()
            if tell is not None:
                tell(error)
