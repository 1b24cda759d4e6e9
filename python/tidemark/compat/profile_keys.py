"""The names of memory in a profile: categories, actions, and keys of storages.

Equal, hashed, sorted and printed as PyTorch's of the same names.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch._C._profiler import _ExtraFields_Allocation, _TensorMetadata

Category = enum.Enum(
    "Category",
    "INPUT TEMPORARY ACTIVATION GRADIENT AUTOGRAD_DETAIL PARAMETER OPTIMIZER_STATE",
    module="tidemark.compat.memory_profiler",
)
Action = enum.Enum(
    "Action",
    "PREEXISTING CREATE INCREMENT_VERSION DESTROY",
    module="tidemark.compat.memory_profiler",
)

# In the order of what is exported.
_CATEGORY_TO_COLORS = {
    Category.PARAMETER: "darkgreen",
    Category.OPTIMIZER_STATE: "goldenrod",
    Category.INPUT: "black",
    Category.TEMPORARY: "mediumpurple",
    Category.ACTIVATION: "red",
    Category.GRADIENT: "mediumblue",
    Category.AUTOGRAD_DETAIL: "royalblue",
    None: "grey",
}
_CATEGORY_TO_INDEX = {category: at for at, category in enumerate(_CATEGORY_TO_COLORS)}
_ACTION_TO_INDEX = {action: action.value for action in Action}


@dataclass(frozen=True)
class Key:
    """Memory of which only the device is known."""

    device: torch.device


@dataclass(eq=False)
class _Storage:
    """An address, told from others at the same address by the number of its allocation."""

    ptr: int
    allocation_id: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Storage) and self.allocation_id == other.allocation_id

    def __hash__(self) -> int:
        return hash(self.allocation_id)

    def __repr__(self) -> str:
        return f"{self.ptr:#x}".rjust(18) + f" ({self.allocation_id})"


@dataclass(frozen=True, unsafe_hash=True)
class TensorKey(Key):
    """A storage of a tensor; several of one id are one tensor whose storage changed."""

    id: int
    storage: _Storage

    def __repr__(self) -> str:
        return f"id={self.id}: {str(self.storage):<24} ({self.device})"

    def __lt__(self, other: TensorKey) -> bool:
        return self._as_sortable < other._as_sortable

    @property
    def _as_sortable(self) -> tuple[int, int, str, int]:
        return self.id, self.storage.allocation_id, self.device.type, self.device.index

    @staticmethod
    def _make(
        tensor_id: int | None,
        storage_ptr: int | None,
        allocation_id: int | None,
        device: torch.device,
    ) -> TensorKey | None:
        if tensor_id is None or storage_ptr is None or allocation_id is None:
            return None
        return TensorKey(device, tensor_id, _Storage(storage_ptr, allocation_id))

    @classmethod
    def from_allocation(cls, alloc: _ExtraFields_Allocation) -> TensorKey | None:
        """Of an allocation's fields, where its memory was seen with a tensor."""
        return cls._make(alloc.id, alloc.ptr, alloc.allocation_id, alloc.device)

    @classmethod
    def from_tensor(cls, t: _TensorMetadata | None) -> TensorKey | None:
        """Of what an operator was given."""
        return None if t is None else cls._make(t.id, t.storage_data_ptr, t.allocation_id, t.device)
