"""Turns the virtual machine on and off as one thing."""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Sequence

from tidemark.calibration.pieces import Pieces
from tidemark.gpus import Gpu
from tidemark.hidden_folders import hidden_folders
from tidemark.private_torch import what_is_missing
from tidemark.run_facts import allocator_settings
from tidemark.torch_match import check_torch
from tidemark.virtual_cuda.library import find_torch, library, load
from tidemark.virtual_cuda.patches import Patches

_patches = Patches()


def open_gpus(
    gpu: Gpu,
    count: int = 1,
    *,
    on_value: str = "plausible",
    raise_out_of_memory: bool = False,
    cuda_choices: bool = True,
    memo: bool = True,
    kernels: bool = True,
    save: str = "",
    host_memory: int | None = None,
    calibration: Sequence[tuple[str, str, Pieces]] = (),
) -> None:
    """Turns the GPUs on and lets torch.cuda answer for them.

    `calibration` has what calls took on a real GPU beyond their results: operator, signature, pieces.
    `host_memory` is what large CPU tensors may take when they are read, in bytes; None is no limit.

    Without `kernels` no operator is ours: the device is there for tensors of another kind (fake ones).
    """
    load()
    check_torch("estimation")
    library().open(
        count,
        gpu.name,
        gpu.memory_bytes,
        gpu.major,
        gpu.minor,
        gpu.multiprocessors,
        on_value=on_value,
        raise_out_of_memory=raise_out_of_memory,
        cuda_choices=cuda_choices,
        memo=memo,
        kernels=kernels,
        save=save,
        host_memory=host_memory,
        calibration=list(calibration),
        allocator_settings=allocator_settings(),
    )
    library().set_hidden_folders(hidden_folders(find_torch()))
    patch_torch(gpu, kernels)


def patch_torch(gpu: Gpu, kernels: bool) -> None:
    # Only now, since they import torch: the C++ side comes first.
    from tidemark.virtual_cuda import (
        asked_values,
        attention,
        backwards,
        c_names,
        comm,
        devices,
        dlpack,
        foreign_operators,
        fusers,
        graphs,
        host_values,
        late_compiler,
        lbfgs,
        memory,
        random,
        refusals,
        saved_tensors,
        storages,
        streams,
        tensor_types,
        triton_kernels,
    )

    c_names.patch_c_names(_patches)
    comm.patch_comm(_patches)
    devices.patch_devices(_patches, gpu)
    memory.patch_memory(_patches, gpu)
    streams.patch_streams(_patches)
    graphs.patch_graphs(_patches)
    attention.patch_attention(_patches)
    fusers.patch_fusers(_patches)
    late_compiler.patch_late_compiler(_patches)
    lbfgs.patch_lbfgs(_patches)
    backwards.patch_backwards(_patches)
    dlpack.patch_dlpack(_patches)
    random.patch_random(_patches)
    tensor_types.patch_tensor_types(_patches)
    refusals.patch_refusals(_patches)
    storages.patch_storages(_patches)
    host_values.patch_host_values(_patches)
    asked_values.patch_asked_values(_patches)
    saved_tensors.patch_saved_tensors(_patches)
    triton_kernels.patch_triton(_patches)
    if kernels:
        foreign_operators.patch_foreign_operators(_patches)


def close_gpus() -> None:
    """Everything answers as on a machine without a GPU again."""
    if "tidemark._phantom" not in sys.modules or not library().is_open():
        return
    _patches.restore()
    library().close()
    forget_initialisation()


def forget_initialisation() -> None:
    """PyTorch asks torch.cuda once whether there is CUDA, and keeps the answer: let it ask again."""
    torch_python = ctypes.PyDLL(str(find_torch() / "lib" / "libtorch_python.so"))
    name = "_ZN5torch5utils24set_requires_device_initEN3c1010DeviceTypeEb"
    ask_again = getattr(torch_python, name, None)
    if ask_again is None:
        warnings.warn(f"tidemark: {what_is_missing(name)}", RuntimeWarning, stacklevel=3)
        return
    cuda = 1  # c10::DeviceType::CUDA
    ask_again(ctypes.c_int8(cuda), ctypes.c_bool(True))
