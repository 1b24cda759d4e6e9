"""Where code is machinery, and not the user's program whose lines a report names."""

from __future__ import annotations

import sysconfig
from pathlib import Path


def hidden_folders(torch: Path) -> list[str]:
    """Torch, ourselves, and Python's own library."""
    ours = Path(__file__).parent  # and where it really lies, if that is a link
    standard = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    python = [str(file) for file in Path(next(iter(standard))).glob("*.py")]
    return [str(torch), str(ours), str(ours.resolve()), *python, *_standard_packages(standard)]


def _standard_packages(folders: set[str]) -> list[str]:
    return [
        str(inner) + "/"
        for folder in folders
        for inner in Path(folder).iterdir()
        if inner.is_dir() and inner.name not in ("site-packages", "dist-packages")
    ]
