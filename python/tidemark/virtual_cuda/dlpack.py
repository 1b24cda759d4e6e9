"""DLPack between tensors of this process: what is handed over is the tensor itself, with its values."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils.dlpack

from tidemark.virtual_cuda.patches import Patches


def patch_dlpack(patches: Patches) -> None:
    from_elsewhere = torch.utils.dlpack.from_dlpack

    def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> torch.Tensor:
        if not isinstance(ext_tensor, torch.Tensor) or not ext_tensor.is_cuda:
            return from_elsewhere(ext_tensor, device=device, copy=copy)
        ext_tensor.__dlpack__()  # raises for what cannot be handed over
        same = ext_tensor.detach()
        return same.to(device or same.device, copy=bool(copy))

    for owner in (torch, torch.utils.dlpack):
        patches.set(owner, "from_dlpack", from_dlpack)
