"""Refuses a torch that this package was not compiled for, before its C++ meets it.

What the C++ parts use of torch changes from one series to the next; loaded into another they would
crash, or count wrong.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version


class WrongTorch(RuntimeError):
    """Another torch than the one this package was compiled for."""


def check_torch() -> None:
    """Raises WrongTorch where the torch of this process is of another series."""
    from tidemark._built_for import TORCH

    here = _version_here()
    if here and _series(here) != _series(TORCH):
        raise WrongTorch(
            f"this tidemark was built for torch {_series(TORCH)}, and torch {here} is installed: "
            f"install a tidemark built for it (`make wheel` in a checkout, with that torch), "
            f"or torch {_series(TORCH)}"
        )


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
