"""Names of torch._C that only a CUDA build has, or that would ask the driver."""

from __future__ import annotations

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def patch_c_names(patches: Patches) -> None:
    patches.set_all(
        torch._C,
        _cuda_getCurrentRawStream=lambda device: library().current_stream(device),
        _cuda_getDevice=lambda: library().current_device(),
        _cuda_getDeviceCount=lambda: library().device_count(),
        _cuda_setDevice=lambda device: library().set_device(device),
        _cuda_synchronize=lambda: None,
        _cuda_emptyCache=lambda: library().empty_cache(),
        _host_emptyCache=lambda: None,
        _cuda_clearCublasWorkspaces=lambda: library().drop_matmul_workspaces(),
        _cuda_isInBadFork=lambda: False,
    )
