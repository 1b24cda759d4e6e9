"""A folder for files that nobody keeps: gone with its owner, or by the next run where that was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "tidemark-"
ANY_NAME = PREFIX + "?" * 8  # as tempfile makes them
LOCK = "lock"  # held as long as a process that owns the folder lives


class OwnFolder:
    """Goes with this object, or at the end of a `with`; a forked child leaves it to its parent."""

    def __init__(self) -> None:
        remove_left_over()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = None
        with suppress(OSError):  # a file system without locks: nobody will take it for left over
            lock = lock_folder(self.path)
        self._end = weakref.finalize(self, _remove, str(self.path), lock, os.getpid())

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self._end()


def _remove(path: str, lock: int | None, process: int) -> None:
    if os.getpid() != process:
        return
    shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        os.close(lock)


@cache
def remove_left_over() -> None:
    """Once in a process, and in none whose files are held: it would only seem to remove them."""
    from tidemark.estimation.held_files import SCRATCH

    if SCRATCH not in os.environ:
        for folder in unowned(ANY_NAME):
            shutil.rmtree(folder, ignore_errors=True)


def lock_folder(folder: str | Path) -> int:
    """Locks it for the life of this process and of its forks; the descriptor."""
    path = os.path.join(folder, LOCK)
    lock = os.open(path + ".new", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(path + ".new", path)  # nobody meets it unlocked
    return lock


def unowned(pattern: str) -> Iterator[Path]:
    """Temporary folders with a lock that nobody holds, because whoever did was killed; ours meanwhile."""
    for folder in Path(tempfile.gettempdir()).glob(pattern):
        try:
            lock = os.open(folder / LOCK, os.O_RDWR)
        except OSError:
            continue
        with suppress(OSError):  # in use
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield folder
        os.close(lock)
