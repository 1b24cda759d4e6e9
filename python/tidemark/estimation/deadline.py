"""Ends a program when its time is over, wherever its main thread is then."""

from __future__ import annotations

import ctypes
import threading
import time

TURNS_UNTIL_RAISED = 100  # of a loop; Python looks at each whether something is to be raised
AGAIN_AFTER_SECONDS = 5.0  # a destructor or a bare `except` may have swallowed the end


class Deadline:
    """Raises `end` in the main thread so many seconds after it was started.

    No signal is used: those are the program's own.
    """

    def __init__(self, end: type[BaseException]) -> None:
        self._end = end
        self._started: float | None = None
        self._is_over = threading.Event()
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """Since its start; 0 where it was not started."""
        return 0.0 if self._started is None else time.monotonic() - self._started

    @property
    def is_started(self) -> bool:
        return self._started is not None

    def start(self, seconds: float) -> None:
        self._started = time.monotonic()
        threading.Thread(target=self._wait, args=(seconds,), name="tidemark-deadline",
                         daemon=True).start()

    def stop(self) -> None:
        """Nothing is raised from here on, what was about to be included."""
        while True:
            try:
                with self._lock:
                    self._is_over.set()
                for _ in range(TURNS_UNTIL_RAISED):
                    pass
                return
            except self._end:
                pass

    def _wait(self, seconds: float) -> None:
        while not self._is_over.wait(seconds):
            with self._lock:
                if not self._is_over.is_set():
                    raise_in_main_thread(self._end)
            seconds = AGAIN_AFTER_SECONDS


def raise_in_main_thread(error: type[BaseException]) -> None:
    """At its next line of Python. It cannot be taken back: Python would look for it forever after, and
    under a profiler do nothing else."""
    thread = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(error))
