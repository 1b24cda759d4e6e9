"""Kinds of memory, states of modules, and what is kept of one storage: PyTorch's names for them."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

import torch

from tidemark._engine import CUDA_GRANULARITY

_PYTORCH_MIN_ALLOCATE = (
    CUDA_GRANULARITY if int(os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING", 0)) == 0 else 1
)
_TOTAL_KEY = "Total"

Snapshot = dict[torch.device, dict[str, int]]


class _RefType(str, Enum):
    """A kind of memory; its members are their own text."""


class _State(str, Enum):
    """A moment in a module's life; its members are their own text."""


class _UpdateType(Enum):
    """How a running count changes."""

    ADD = auto()
    DEL = auto()
    REF = auto()
    SIZE = auto()


class _WeakRefInfo:
    """Size, device and kind of one storage."""

    def __init__(self, size: int, element_size: int, device: torch.device, reftype: _RefType) -> None:
        self.size = size
        self.element_size = element_size
        self.reftype = reftype
        self.device = device
        self.mem_consumed = self._calculate_mem_consumed()

    def _calculate_mem_consumed(self) -> int:
        exact = self.size * self.element_size
        if self.device.type == "cuda":
            return math.ceil(exact / _PYTORCH_MIN_ALLOCATE) * _PYTORCH_MIN_ALLOCATE
        return exact

    def update_mem_consumed(self, st: torch.UntypedStorage) -> int:
        if st.size() != self.size:
            self.size = st.size()
            self.mem_consumed = self._calculate_mem_consumed()
        return self.mem_consumed

    @classmethod
    def create_winfo(
        cls,
        st: torch.UntypedStorage,
        device: torch.device,
        reftype: _RefType,
        callback: Callable[[_WeakRefInfo, Any], Any] | None = None,
    ) -> tuple[_WeakRefInfo, Any]:
        info = cls(st.size(), st.element_size(), device, reftype)
        dies = None if callback is None else (lambda ref: callback(info, ref))
        return info, weakref.ref(st, dies)
