"""Storages that Python resizes itself, as sharding does, are seen too."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def patch_storages(patches: Patches) -> None:
    resize = torch.UntypedStorage.resize_

    def resize_(self: Any, size: int) -> Any:
        result = resize(self, size)
        library().settle_storage(self._cdata)
        return result

    patches.set(torch.UntypedStorage, "resize_", resize_)
