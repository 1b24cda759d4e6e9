"""Warnings of ours: said aloud, but never an error in the user's program."""

from __future__ import annotations

import sys
import warnings


def warn(text: str, stacklevel: int = 1) -> None:
    """A RuntimeWarning; a line on standard error where warnings are made errors."""
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=stacklevel + 1)
    except Warning:
        print(text, file=sys.stderr)
