"""Refuses a torch that this package was not compiled for, before its C++ meets it, and loads that.

What the C++ parts use of torch changes from one series to the next; loaded into another they would
crash, or count wrong.
"""

from __future__ import annotations

import importlib
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from tidemark.private_torch import check_private, what_is_missing


class WrongTorch(RuntimeError):
    """Another torch than the one this package was compiled for, or than it knows."""


def check_torch(part: str = "") -> None:
    """Raises WrongTorch where the torch of this process is of another series, or has changed what
    this part of tidemark uses in Python."""
    from tidemark._built_for import TORCH

    here = _version_here()
    if here and _series(here) != _series(TORCH):
        raise WrongTorch(
            f"this tidemark was built for torch {_series(TORCH)}, and torch {here} is installed: "
            f"install a tidemark built for it (`make wheel` in a checkout, with that torch), "
            f"or torch {_series(TORCH)}"
        )
    if part:
        missing = check_private(part)
        if missing:
            raise WrongTorch(what_is_missing(*missing))


def load_extension(name: str) -> ModuleType:
    """Our C++ of this name. Raises WrongTorch where torch lacks a symbol that it uses."""
    try:
        return importlib.import_module(f"tidemark.{name}")
    except ImportError as error:
        symbol = re.search(r"undefined symbol: (\w+)", str(error))
        if symbol is None:
            raise
        raise WrongTorch(what_is_missing(symbol.group(1))) from error


def _version_here() -> str:
    """Of the torch that is imported, else of the one that would be; "" where nobody can say."""
    if "torch" in sys.modules:
        return str(getattr(sys.modules["torch"], "__version__", ""))
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def _series(text: str) -> str:
    return ".".join(text.split(".")[:2])
