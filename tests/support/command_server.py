"""Runs `python -m tidemark VERB ...`, or `python SCRIPT ...`, for tests, each in a fork of one process
that has torch.

    command_server.py SOCKET VERB|SCRIPT [MODULE ...]   (started by forked_commands.py, never by hand)

A fork runs the package's own __main__, or the script, as a fresh Python does from the moment when it has imported
torch: nothing of the package has acted before, no virtual GPU is open and no thread runs. Modules that
tidemark acts on when a script imports them are left to the script, but for those that are asked for: to
import torch._dynamo takes longer than most scripts. Two things differ: Python collects garbage at other
moments, which no test may hang on, and does not take its modules apart at the end.
"""

from __future__ import annotations

import array
import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
from typing import Any

from tidemark.forked import fork_of

# Slow to import, and tidemark asks of none of them whether it is there.
NEUTRAL = ("sympy", "torch.fx.experimental.symbolic_shapes")


def prepare(verb: str, modules: list[str]) -> None:
    """Imports what every run of this verb imports before its script, and these."""
    threads = threads_of_numpy()
    if verb == "estimate":
        from tidemark.estimation.held_files import loaded
        from tidemark.virtual_cuda.library import load

        assert loaded(), "a server of estimates is started with the library that holds files"
        load()
        importlib.import_module("tidemark.estimation.command")
    importlib.import_module("torch")
    for name in [*NEUTRAL, *modules]:
        importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == threads, "a fork would lose threads"


def threads_of_numpy() -> int:
    """Its BLAS has threads, ends them before a fork and starts them again when they are needed."""
    with contextlib.suppress(ImportError):
        importlib.import_module("numpy")
    return len(os.listdir("/proc/self/task"))


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Takes over what a process has of whoever starts it."""
    for target, descriptor in enumerate(streams):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.chdir(request["folder"])
    for name in set(os.environ) - set(request["environment"]):
        del os.environ[name]
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    words = request["words"]
    is_script = words[0].endswith(".py")
    sys.path[0] = os.path.dirname(os.path.abspath(words[0])) if is_script else os.getcwd()
    sys.argv = words if is_script else ["-m", *words]


def run_in_fork(request: dict[str, Any], streams: list[int], line: socket.socket) -> int | None:
    """The exit code, or minus the signal that ended it, as subprocess has it; None past its time."""

    def run() -> int:
        line.close()
        become(request, streams)
        if request["words"][0].endswith(".py"):
            runpy.run_path(request["words"][0], run_name="__main__")
        else:
            runpy.run_module("tidemark", run_name="__main__", alter_sys=True)
        return 0

    return wait_for(fork_of(run), request["timeout"])


def wait_for(child: int, timeout: float) -> int | None:
    """Its exit code; a child that takes too long is killed, and has none."""
    handle = os.pidfd_open(child)
    try:
        is_over = bool(select.select([handle], [], [], timeout)[0])
        if not is_over:
            os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code if is_over else None
    finally:
        os.close(handle)


def serve(line: socket.socket) -> None:
    """One request after the other, until whoever asks is gone."""
    while True:
        descriptors = array.array("i")
        message, further, _, _ = line.recvmsg(1 << 20, socket.CMSG_SPACE(3 * descriptors.itemsize))
        if not message:
            return
        for _, _, data in further:
            descriptors.frombytes(data)
        code = run_in_fork(json.loads(message), list(descriptors), line)
        for descriptor in descriptors:
            os.close(descriptor)
        line.send(json.dumps(code).encode())


if __name__ == "__main__":
    prepare(sys.argv[2], sys.argv[3:])
    serve(socket.socket(fileno=int(sys.argv[1])))
