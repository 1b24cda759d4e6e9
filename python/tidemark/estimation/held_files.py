"""Nothing on disk is changed by an estimate: what the script writes goes to a scratch folder.

A library of ours stands before libc's file calls, for Python, C++, Rust and child processes alike
(tidemark/held_files). The dynamic loader must load it before all others, so the process starts anew.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tidemark.own_folder import lock_folder, unowned

LIBRARY = Path(__file__).absolute().parent.parent / "_held_files.so"
SCRATCH, LET_THROUGH = "TIDEMARK_SCRATCH", "TIDEMARK_LET_THROUGH"  # variables, for children
PREFIX = "tidemark-files-"
MOST_NAMES = 8  # in the report's sentence

# Where libraries keep what they download and compile. It is the same with and without a GPU, so it
# is kept for real.
CACHES = ("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "TRANSFORMERS_CACHE",
          "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "NUMBA_CACHE_DIR",
          "MPLCONFIGDIR")


class CannotHoldFiles(RuntimeError):
    """The library could not be loaded before all others: the script's files would not be safe."""


@cache
def loaded() -> ctypes.CDLL | None:
    """The library, in a process that was started with it."""
    process = ctypes.CDLL(None)
    return process if hasattr(process, "tidemark_hold_files") else None


def environment() -> dict[str, str]:
    """Of a process that can hold files."""
    before = os.environ.get("LD_PRELOAD", "")
    library = plain_name_of(LIBRARY)
    return {**os.environ, "LD_PRELOAD": f"{library}:{before}" if before else library}


def plain_name_of(library: Path) -> str:
    """Blanks and colons stand between names in LD_PRELOAD: one that has any needs another name,
    for as long as the run and its children last."""
    if not set(" :") & set(str(library)):
        return str(library)
    link = Path(tempfile.mkdtemp(prefix=PREFIX)) / library.name
    link.symlink_to(library)
    return str(link)


def start_with_library() -> None:
    """Returns in a process that can hold files; starts this program anew where it cannot yet."""
    if loaded():
        return
    if LIBRARY.name in os.environ.get("LD_PRELOAD", ""):
        raise CannotHoldFiles(
            f"{LIBRARY} could not be loaded before libc, so the script's files would not be safe\n"
            "  hint: is the package whole, and the path of the temporary folder without blanks?")
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment())


def let_through() -> list[str]:
    """Folders that are changed for real."""
    named = [os.environ[name] for name in CACHES if os.environ.get(name)]
    return [os.path.realpath(Path(folder).expanduser()) for folder in ["~/.cache", *named]]


@dataclass
class Held:
    """What a script would have done to the disk: names as it used them."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def sentence(self) -> str:
        """Empty, where it would have done nothing."""
        deeds = ((self.written, "wrote"), (self.removed, "removed or renamed"))
        parts = [f"{len(names)} the script {deed} ({listed(names)})" for names, deed in deeds if names]
        if not parts:
            return ""
        return f"files held back: {', '.join(parts)}; nothing on disk was changed"


def listed(names: Sequence[str]) -> str:
    return ", ".join([*names[:MOST_NAMES], *["…"] * (len(names) > MOST_NAMES)])


class HeldFiles:
    """The scratch folder of this process: begins to hold when it is told to, and goes at exit.

    To be made early: exit handlers that are registered later may still write, and run before its end.
    """

    def __init__(self, also_let_through: Sequence[str] = ()) -> None:
        library = loaded()
        if library is None:
            raise CannotHoldFiles("this process was not started to hold files")
        self._library = library
        remove_left_over(library)
        self._let_through = [*let_through(), *map(os.path.realpath, filter(None, also_let_through))]
        self.scratch = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
        os.set_inheritable(lock_folder(self.scratch), True)  # as long as any process of the run lives
        self._folder = os.getcwd()
        atexit.register(self._end, os.getpid())

    def begin(self, tapes: Path) -> None:
        """From here on, for this process and those that it starts; they keep their tapes in a folder."""
        allowed = ":".join([*self._let_through, os.path.realpath(tapes)])
        os.environ.update({SCRATCH: self.scratch, LET_THROUGH: allowed})
        if not self._library.tidemark_hold_files(os.fsencode(self.scratch), os.fsencode(allowed)):
            raise CannotHoldFiles(f"{self.scratch}: cannot write: files cannot be held there")

    def held(self) -> Held:
        """What lies in the scratch folder now."""
        gone = [self._shown(name) for name in self._files("gone")]
        written = [self._shown(name) for name in self._files("held")]
        return Held([name for name in written if name], [name for name in gone if name])

    def _files(self, part: str) -> Iterator[str]:
        root = os.path.join(self.scratch, part)
        for folder, _, names in os.walk(root):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path[len(root):]

    def _shown(self, name: str) -> str:
        """As the user would write it; nothing, for a new file in the system's temporary folder."""
        inside = os.path.relpath(name, self._folder)
        if not inside.startswith(".." + os.sep):
            return inside
        is_temporary = name.startswith(os.path.realpath(tempfile.gettempdir()) + os.sep)
        return "" if is_temporary and not is_on_disk(name) else name

    def _end(self, process: int) -> None:
        if os.getpid() == process:  # not in a fork of it
            self._library.tidemark_remove_scratch(os.fsencode(self.scratch))
            link = Path(os.environ.get("LD_PRELOAD", "").partition(":")[0]).parent
            if link.name.startswith(PREFIX):
                self._library.tidemark_remove_scratch(os.fsencode(link))


def is_on_disk(name: str) -> bool:
    """Whatever is held: nothing stands before the names that /proc has for the disk."""
    return os.path.lexists("/proc/self/root" + name)


def remove_left_over(library: ctypes.CDLL) -> None:
    """Scratch folders of runs that were killed."""
    for folder in unowned(PREFIX + "*"):
        library.tidemark_remove_scratch(os.fsencode(folder))
