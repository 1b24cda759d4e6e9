"""Runs the user's script in this process, as Python itself would."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn


class StepsDone(BaseException):
    """Ends the script after its last wanted step; no `except Exception` of the user stops it."""


def why_not_a_script(script: str, is_module: bool) -> str:
    """What to say of a script that cannot be run, and what to do; empty if it is a file."""
    if is_module or Path(script).is_file():
        return ""
    what = "is a directory" if Path(script).is_dir() else "no such script"
    return f"{script}: {what}\n  hint: name a Python file, or -m MODULE"


def run_script(script: str, arguments: list[str], is_module: bool) -> None:
    sys.argv = [script, *arguments]
    if is_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(script, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(script).resolve().parent))
        runpy.run_path(script, run_name="__main__")


def error_of(program: Callable[[], None]) -> BaseException | None:
    """Runs it; what came out of it, if anything did."""
    try:
        program()
    except BaseException as error:
        return error
    return None


def end_fork(error: BaseException | None) -> NoReturn:
    """In a process that the script has forked, and that came to the script's end: as Python ends it."""
    if error is None or isinstance(error, StepsDone):
        raise SystemExit(0)
    if not isinstance(error, Exception):
        raise error
    sys.stderr.write(script_traceback(error))
    raise SystemExit(1)


def script_traceback(error: BaseException) -> str:
    """The traceback from the script's first line on: the frames of tidemark and runpy left out."""
    ours = (str(Path(__file__).resolve().parent) + os.sep, "<frozen runpy>", runpy.__file__)
    entries = error.__traceback__
    while entries is not None and _file_of(entries).startswith(ours):
        entries = entries.tb_next
    return "".join(traceback.format_exception(type(error), error, entries))


def _file_of(entry: object) -> str:
    file: str = entry.tb_frame.f_code.co_filename  # type: ignore[attr-defined]
    return file if file.startswith("<") else str(Path(file).resolve())
