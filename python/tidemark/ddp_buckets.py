"""The buckets of DistributedDataParallel: what its reducer makes is for talking to other ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch.distributed

from tidemark.recording.replaced_method import ReplacedMethod, ReplacedMethods

SetCommunicating = Callable[[bool], None]

_hearers: list[SetCommunicating] = []


def _told(original: Any) -> Callable[..., Any]:
    @wraps(original)
    def method(*arguments: Any, **options: Any) -> Any:
        hearers = list(_hearers)
        for hear in hearers:
            hear(True)
        try:
            return original(*arguments, **options)
        finally:
            for hear in hearers:
                hear(False)

    return method


# Buckets are made with the reducer, and once more when the order of gradients is known.
_METHODS = ReplacedMethods(
    ReplacedMethod(torch.distributed.Reducer, name, _told)
    for name in ("__init__", "_rebuild_buckets")
    if torch.distributed.is_available() and hasattr(torch.distributed.Reducer, name)
)


class DdpBuckets:
    """While started, `set_communicating` hears when buckets are being made."""

    def __init__(self, set_communicating: SetCommunicating) -> None:
        self._hear = set_communicating

    def start(self) -> None:
        _METHODS.start()
        _hearers.append(self._hear)

    def stop(self) -> None:
        if self._hear in _hearers:
            _hearers.remove(self._hear)
            _METHODS.stop()
