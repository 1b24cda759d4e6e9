"""One line on a terminal that says how far the run is, and makes room for all that is written."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from typing import TextIO

from tidemark._engine import format_bytes
from tidemark.virtual_cuda.library import library

STANDARD_ERROR = 2
CLEAR = b"\r\x1b[K"


class Progress:
    """Draws at most ten times a second, only on a terminal, and never into a line of the script's.

    Between start and stop Python's streams go through here, so that the line is gone before a word
    of the script's comes.
    """

    def __init__(self, wanted_steps: int, quiet: bool) -> None:
        self._wanted = wanted_steps
        self._is_on = not quiet and os.isatty(STANDARD_ERROR)
        self._last = 0.0
        self._is_drawn = False
        self._at_line_start = True
        self._lock = threading.Lock()
        self._streams: tuple[TextIO, TextIO] | None = None

    def start(self) -> None:
        if not self._is_on:
            return
        self._streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_ClearingOutput(self)), sys.stderr.encoding, sys.stderr.errors,
            line_buffering=True)

    def stop(self) -> None:
        if self._streams is None:
            return
        sys.stderr.flush()
        sys.stdout, sys.stderr = self._streams
        self._streams = None
        with self._lock:
            self._is_on = False
            self._clear()

    def step(self, done: int) -> None:
        if not self._is_on or time.monotonic() - self._last < 0.1:
            return
        self._last = time.monotonic()
        now, peak, *_ = library().memory_held(0)
        steps = f"{done}/{self._wanted}" if self._wanted else str(done)
        line = (
            f"step {steps}  {library().ops()} ops  "
            f"{format_bytes(now)} now  "
            f"{format_bytes(peak)} peak"
        )
        with self._lock:
            if self._at_line_start:
                os.write(STANDARD_ERROR, CLEAR + line.encode())
                self._is_drawn = True

    def write(self, data: bytes) -> int:
        """What the script writes."""
        with self._lock:
            self._clear()
            written = os.write(STANDARD_ERROR, data)
            self._at_line_start = data[:written].endswith(b"\n")
            return written

    def _clear(self) -> None:
        if self._is_drawn:
            os.write(STANDARD_ERROR, CLEAR)
            self._is_drawn = False


class _ClearingOutput(io.RawIOBase):
    """Standard error, but for the progress line that goes first."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return STANDARD_ERROR

    def write(self, data: object) -> int:
        return self._progress.write(bytes(data))  # type: ignore[call-overload]
