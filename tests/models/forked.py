"""Runs a function in a forked child with a time limit; a crash or a hang is an answer too."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any


def run_forked(function: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What the function returns, or {"error": one line}. Never raises, never waits longer."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reader)
        _answer(function, writer)
    os.close(writer)
    text = _read_until(reader, time.monotonic() + seconds)
    os.close(reader)
    if text is None:
        _kill_group(child)
        return {"error": f"did not end within {seconds:.0f} s", "ended": "hang"}
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return {"error": f"the process died of {name}", "ended": "crash"}
    return json.loads(text) if text else {"error": "the process ended silently", "ended": "crash"}


def _answer(function: Callable[[], dict[str, Any]], writer: int) -> None:
    """The child's life: the function, its answer into the pipe, and the end without clean-up."""
    try:
        answer = function()
    except BaseException as error:
        answer = {"error": one_line(error)}
        if os.environ.get("TIDEMARK_TRACEBACKS"):
            traceback.print_exc()
    os.write(writer, json.dumps(answer).encode())
    os._exit(0)


def _read_until(reader: int, deadline: float) -> bytes | None:
    """Everything the child writes until it closes its end; None when the time is up."""
    text = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        piece = os.read(reader, 1 << 16)
        if not piece:
            return text
        text += piece
    return None


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def one_line(error: BaseException) -> str:
    """The error's kind, its first line without paths of this machine, and the last line of model
    code it came from."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    first = re.sub(r"'/[^']*/site-packages/", "'", first)
    frames = traceback.extract_tb(error.__traceback__)
    models = [frame for frame in frames if "/transformers/" in frame.filename]
    where = f" at {os.path.basename(models[-1].filename)}:{models[-1].lineno}" if models else ""
    return f"{type(error).__name__}: {first[:240]}{where}"
