"""A program in a fork of this process, which ends as Python ends."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable


def run_in_fork(program: Callable[[], int]) -> int:
    """The exit code that it returns, or what ended it: minus a signal, as subprocess has it."""
    child = fork_of(program)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fork_of(program: Callable[[], int]) -> int:
    """The number of a process that has all that this one has, and runs the program to its end."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    child = os.fork()
    if child == 0:
        code = os.EX_SOFTWARE
        try:
            code = code_at_end(program)
        finally:
            os._exit(code)
    return child


def code_at_end(program: Callable[[], int]) -> int:
    """After all that Python does at a process's end and a script can notice. Its modules stay whole."""
    try:
        code = program()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    ctypes.CDLL(None).fflush(None)
    return code
