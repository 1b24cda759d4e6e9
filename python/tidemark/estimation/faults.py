"""Signals that end the process: Python's stack, the operator and the line are told before."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from contextlib import contextmanager

from tidemark.virtual_cuda.library import library

STANDARD_ERROR = 2


@contextmanager
def told_faults() -> Iterator[None]:
    """Python's own handler comes first and hands on to ours, ours to what was there before."""
    library().watch_faults()
    is_mine = not faulthandler.is_enabled()
    if is_mine:
        faulthandler.enable(file=STANDARD_ERROR)
    try:
        yield
    finally:
        if is_mine:
            faulthandler.disable()
        library().unwatch_faults()
