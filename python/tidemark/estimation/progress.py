"""One line on a terminal that says how far the run is."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from tidemark.reporting.sizes import format_bytes
from tidemark.virtual_cuda.library import library


class Progress:
    """Writes at most ten times a second, and only to a terminal."""

    def __init__(self, wanted_steps: int, quiet: bool, stream: TextIO = sys.stderr) -> None:
        self._wanted = wanted_steps
        self._stream = stream
        self._is_on = not quiet and stream.isatty()
        self._last = 0.0

    def step(self, done: int) -> None:
        if not self._is_on or time.monotonic() - self._last < 0.1:
            return
        self._last = time.monotonic()
        counters = library().counters(0)
        steps = f"{done}/{self._wanted}" if self._wanted else str(done)
        line = (
            f"step {steps}  {library().ops()} ops  "
            f"{format_bytes(counters['allocated'])} now  "
            f"{format_bytes(counters['allocated_peak'])} peak"
        )
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()

    def clear(self) -> None:
        if self._is_on:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
