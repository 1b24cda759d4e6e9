"""The buckets of DistributedDataParallel: what its reducer makes is for talking to other ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch.distributed

from tidemark.recording.replaced_method import ReplacedMethod, ReplacedMethods

SetPurpose = Callable[[str], str]  # of what is made from here on; returns the one before

_hearers: list[SetPurpose] = []


def _told(original: Any) -> Callable[..., Any]:
    @wraps(original)
    def method(*arguments: Any, **options: Any) -> Any:
        before = [(hear, hear("Communication")) for hear in list(_hearers)]
        try:
            return original(*arguments, **options)
        finally:
            for hear, purpose in before:
                hear(purpose)

    return method


_distributed: Any = torch.distributed  # its types do not have the reducer
# Buckets are made with the reducer, and once more when the order of gradients is known.
_METHODS = ReplacedMethods(
    ReplacedMethod(_distributed.Reducer, name, _told)
    for name in ("__init__", "_rebuild_buckets")
    if torch.distributed.is_available() and hasattr(_distributed.Reducer, name)
)


class DdpBuckets:
    """While started, `set_purpose` hears when buckets are being made."""

    def __init__(self, set_purpose: SetPurpose) -> None:
        self._hear = set_purpose

    def start(self) -> None:
        _METHODS.start()
        _hearers.append(self._hear)

    def stop(self) -> None:
        if self._hear in _hearers:
            _hearers.remove(self._hear)
            _METHODS.stop()
