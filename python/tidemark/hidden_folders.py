"""Where code is machinery, and not the user's program whose lines a report names."""

from __future__ import annotations

import sysconfig
from pathlib import Path


def hidden_folders(torch: Path) -> list[str]:
    """Torch, ourselves, and Python's own library."""
    ours = Path(__file__).parent  # and where it really lies, if that is a link
    # Two places in a virtual environment: Python's own, and the environment's.
    standard = sorted({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
    inside = [place for folder in standard for place in _standard_library(Path(folder))]
    return [str(torch), str(ours), str(ours.resolve()), *inside]


def _standard_library(folder: Path) -> list[str]:
    """Its files and its packages; what users install lies there, too."""
    packages = [
        str(inner) + "/" for inner in folder.iterdir()
        if inner.is_dir() and inner.name not in ("site-packages", "dist-packages")
    ]
    return [str(file) for file in folder.glob("*.py")] + packages
