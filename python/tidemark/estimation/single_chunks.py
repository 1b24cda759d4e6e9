"""The one piece of a parameter that FSDP2 takes, in place of a view for every rank of the job."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tidemark.estimation.rank_classes import piece
from tidemark.virtual_cuda.later_imports import when_imported
from tidemark.virtual_cuda.patches import Patches

if TYPE_CHECKING:
    import torch


class Chunks(Sequence[Any]):
    """What `torch.chunk` returns, and empty tensors up to `count`; each made when it is asked for."""

    def __init__(self, tensor: torch.Tensor, count: int, dimension: int) -> None:
        self._tensor, self._count, self._dimension = tensor, count, dimension

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        index %= self._count
        whole = self._tensor.size(self._dimension)
        length = piece(whole, self._count, index)
        if length == 0 and index > 0:
            return self._tensor.new_empty(0)
        return self._tensor.narrow(self._dimension, piece(whole, self._count, 0) * index, length)


def patch_chunks(patches: Patches) -> None:
    """Before FSDP2 is loaded, or after."""
    name = "_chunk_with_empty"

    def replace(module: ModuleType) -> None:
        if hasattr(module, name):
            patches.set_wherever_bound(module, {name: chunks_of})

    when_imported(patches, "torch.distributed.fsdp._fully_shard._fsdp_common", replace)


def chunks_of(tensor: torch.Tensor, num_chunks: int, dim: int) -> Chunks:
    return Chunks(tensor, num_chunks, dim)
