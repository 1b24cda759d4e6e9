"""Python programs that the script starts: each on virtual GPUs of its own, with a tape of its own."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark._engine import read_bytes
from tidemark.estimation.options import EstimateOptions
from tidemark.virtual_cuda.patches import Patches

OPTIONS = "options"
ENTRY = "tidemark.estimation.child"
TAKES_VALUE = ("-W", "-X")
NOT_FOLLOWED = (*sys.stdlib_module_names, "pip")  # modules that train nothing


def patch_children(patches: Patches, options: EstimateOptions, folder: Path) -> None:
    """From here on; their tapes will be in the folder."""
    told = replace(options, script="", arguments=[], module=False, save="", quiet=True)
    (folder / OPTIONS).write_bytes(pickle.dumps(told))
    start = subprocess.Popen.__init__

    def start_virtual(process: Any, args: Any, *rest: Any, **options: Any) -> None:
        start(process, virtual_command(args, folder), *rest, **options)

    patches.set(subprocess.Popen, "__init__", start_virtual)


def virtual_command(args: Any, folder: Path) -> Any:
    """The command that runs the same Python program on virtual GPUs; any other as it is."""
    if not isinstance(args, Sequence) or isinstance(args, (str, bytes)):
        return args
    words = [os.fspath(word) for word in args]
    if not words or not all(isinstance(word, str) for word in words) or not is_ours(words[0]):
        return args
    is_python = Path(words[0]).name.startswith("python")
    rest = words[1:] if is_python else [str(shutil.which(words[0])), *words[1:]]
    flags = interpreter_flags(rest) if is_python else []
    program = rest[len(flags):]
    if not runs_program(program):
        return args
    return [sys.executable, *flags, "-m", ENTRY, str(folder), *program]


def is_ours(command: str) -> bool:
    """Whether it is a Python, or a Python's command, of this environment."""
    found = shutil.which(command)
    if found is None or Path(os.path.abspath(found)).parent != Path(sys.executable).parent:
        return False
    name = Path(found).name
    return name.startswith("python") or name in ("torchrun", "accelerate")


def interpreter_flags(words: list[str]) -> list[str]:
    """Those that Python itself takes, before the program."""
    count = 0
    while count < len(words) and words[count].startswith("-") and words[count] not in ("-m", "-c", "-"):
        count += 2 if words[count] in TAKES_VALUE else 1
    return words[:count]


def runs_program(words: list[str]) -> bool:
    """Whether what follows the flags is a script, or a module that may train."""
    if words[:1] == ["-m"]:
        return len(words) > 1 and words[1].split(".")[0] not in NOT_FOLLOWED
    return bool(words) and not words[0].startswith("-")


def largest_tape(folder: Path, own: bytes) -> bytes:
    """Of this process and those it started, the tape whose GPU holds most."""
    children = [path.read_bytes() for path in sorted(folder.glob("*.tape"))]
    return max([own, *children], key=tensor_bytes) if children else own


def tensor_bytes(tape: bytes) -> int:
    return read_bytes(tape, "estimate").verdict().tensor_bytes
