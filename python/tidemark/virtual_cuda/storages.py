"""Storages in Python: resized ones, as sharding resizes them, are seen; each says where it is; and
copies between them, as saving and loading make, go the way of tensors."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


SMALL_BYTES = 16 << 10


def patch_storages(patches: Patches) -> None:
    resize = torch.UntypedStorage.resize_

    def resize_(self: Any, size: int) -> Any:
        result = resize(self, size)
        library().settle_storage(self._cdata)
        return result

    where = torch.UntypedStorage.device

    def device(self: Any) -> torch.device:
        number = library().storage_device(self._cdata)
        return torch.device("cuda", number) if number >= 0 else where.__get__(self)

    copy = torch.UntypedStorage.copy_

    def copy_(self: Any, source: Any, non_blocking: bool | None = None) -> Any:
        if not is_phantom(self) and not is_phantom(source):
            return copy(self, source, non_blocking)
        bytes_of(self).copy_(bytes_of(source))
        return self

    patches.set(torch.UntypedStorage, "resize_", resize_)
    patches.set(torch.UntypedStorage, "device", property(device))
    patches.set(torch.UntypedStorage, "copy_", copy_)
    patch_moves(patches)


def patch_moves(patches: Patches) -> None:
    """`to`, `cuda` and `clone`: a CPU build makes no storage on `cuda` by itself."""
    move, clone_elsewhere = torch.UntypedStorage.to, torch.UntypedStorage.clone

    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        if torch.device(device).type == "cuda":
            return on_gpu(self, device)
        return move(self, device=device, non_blocking=non_blocking)

    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        return on_gpu(self, torch.device("cuda") if device is None else torch.device("cuda", device))

    def clone(self: Any) -> Any:
        if is_phantom(self):
            return on_gpu(self, self.device)
        return clone_elsewhere(self)  # type: ignore[no-untyped-call]

    patches.set_all(torch.UntypedStorage, to=to, cuda=cuda, clone=clone)


def on_gpu(storage: torch.UntypedStorage, device: Any) -> torch.UntypedStorage:
    made = torch.empty(storage.nbytes(), dtype=torch.uint8, device=device)
    # Of a weight nobody asks for values; and of bytes it cannot be told what they are.
    if storage.nbytes() <= SMALL_BYTES:
        made.copy_(bytes_of(storage))
    return made.untyped_storage()


def is_phantom(storage: torch.UntypedStorage) -> bool:
    return bool(library().storage_device(storage._cdata) >= 0)


def bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    """A tensor over all of it."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
