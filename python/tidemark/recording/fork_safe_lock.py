"""A lock that a forked child finds free: it does not have the thread that may hold it."""

from __future__ import annotations

import os
import threading
from typing import Any


class ForkSafeLock:
    """For objects that live as long as the process."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()
