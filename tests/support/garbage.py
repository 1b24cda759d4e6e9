"""Collections of garbage that take a millisecond: for tests whose programs collect it many times."""

from __future__ import annotations

import gc
import sys

_known = [0]  # modules that were there at the last freeze


def freeze_modules() -> None:
    """Leaves out what is alive now, torch and all tests, of every later collection, if more modules
    were imported since the last time: to look through their objects takes a fifth of a second."""
    if len(sys.modules) != _known[0]:
        _known[0] = len(sys.modules)
        gc.collect()
        gc.freeze()
