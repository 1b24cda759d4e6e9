"""A folder for files that nobody keeps, gone with its owner; a forked child leaves it to its parent."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class OwnFolder:
    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="tidemark-"))
        weakref.finalize(self, _remove, str(self.path), os.getpid())


def _remove(path: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)
