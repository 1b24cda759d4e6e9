"""TorchScript's fuser would compile for the GPU: on a virtual one its operators run one by one."""

from __future__ import annotations

import torch

from tidemark.virtual_cuda.patches import Patches


def patch_fusers(patches: Patches) -> None:
    before = torch._C._jit_can_fuse_on_gpu()
    torch._C._jit_override_can_fuse_on_gpu(False)
    patches.call_afterwards(lambda: torch._C._jit_override_can_fuse_on_gpu(before))
