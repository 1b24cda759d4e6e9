"""torch.cuda's answers about devices: how many, which, and what they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
import torch.backends.cudnn.rnn as cudnn_rnn

from tidemark.gpus import Gpu
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def index_of(device: Any = None) -> int:
    """The number of a device given as None, int, str or torch.device."""
    if device is None:
        return int(library().current_device())
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        return int(library().current_device()) if device.index is None else device.index
    return int(device)


def checked_index(device: Any = None) -> int:
    index = index_of(device)
    if not 0 <= index < library().device_count():
        raise AssertionError(f"Invalid device id {index}: there are {library().device_count()} GPUs")
    return index


class CurrentDevice:
    """torch.cuda.device: selects a device for a while; None or a negative one does nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = int(library().current_device())
        if self.idx >= 0:
            library().set_device(self.idx)

    def __exit__(self, *_: object) -> None:
        library().set_device(self.prev_idx)


class DeviceOf(CurrentDevice):
    """torch.cuda.device_of: the device of a tensor, if it is on one."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.get_device() if tensor.is_cuda else None)


def exchange_device(device: int) -> int:
    before = int(library().current_device())
    if device >= 0:
        library().set_device(device)
    return before


def set_device(device: Any) -> None:
    if device is not None and index_of(device) >= 0:
        library().set_device(checked_index(device))


# As cuDNN numbers the kinds of recurrent nets.
_CUDNN_MODES = {"RNN_RELU": 0, "RNN_TANH": 1, "LSTM": 2, "GRU": 3}


def _is_acceptable(tensor: torch.Tensor) -> bool:
    """torch.backends.cudnn.is_acceptable, which asks for a library that is not there."""
    whole = tensor.dtype in torch.backends.cudnn.CUDNN_TENSOR_DTYPES
    return whole and bool(torch.cudnn_is_acceptable(tensor))


def patch_devices(patches: Patches, gpu: Gpu) -> None:
    properties = SimpleNamespace(
        name=gpu.name,
        major=gpu.major,
        minor=gpu.minor,
        total_memory=gpu.memory_bytes,
        multi_processor_count=gpu.multiprocessors,
        max_threads_per_multi_processor=2048,
        warp_size=32,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448 if gpu.major >= 9 else 101376,
        shared_memory_per_multiprocessor=233472 if gpu.major >= 9 else 102400,
        L2_cache_size=50 << 20,
        is_integrated=False,
        is_multi_gpu_board=False,
        gcnArchName="",
        uuid="00000000-0000-0000-0000-000000000000",
    )

    def about(device: Any = None) -> Any:
        checked_index(device)
        return properties

    count = library().device_count
    patches.set_all(
        torch.cuda,
        is_available=lambda: True,
        is_initialized=lambda: True,
        _is_compiled=lambda: True,
        init=lambda: None,
        _lazy_init=lambda: None,
        _lazy_call=lambda call, **_: call(),
        _is_in_bad_fork=lambda: False,
        device_count=lambda: int(count()),
        current_device=lambda: int(library().current_device()),
        set_device=set_device,
        device=CurrentDevice,
        device_of=DeviceOf,
        _exchange_device=exchange_device,
        _maybe_exchange_device=exchange_device,
        synchronize=lambda device=None: None,
        get_device_name=lambda device=None: about(device).name,
        get_device_capability=lambda device=None: (about(device).major, about(device).minor),
        get_device_properties=about,
        _get_device_properties=about,
        get_arch_list=lambda: [f"sm_{gpu.major}{gpu.minor}"],
        get_gencode_flags=lambda: "",
        can_device_access_peer=lambda device, peer: True,
        is_bf16_supported=lambda including_emulation=True: gpu.major >= 8 or including_emulation,
        is_tf32_supported=lambda: gpu.major >= 8,
        ipc_collect=lambda: None,
        current_blas_handle=lambda: 0,
        utilization=lambda device=None: 0,
        memory_usage=lambda device=None: 0,
        temperature=lambda device=None: 40,
        power_draw=lambda device=None: 100_000,
        clock_rate=lambda device=None: 1_500,
        get_sync_debug_mode=lambda: 0,
        set_sync_debug_mode=lambda mode: None,
    )
    patches.set(torch.version, "cuda", torch.version.cuda or "13.0")
    patches.set(torch.backends.cuda, "is_built", lambda: True)
    patches.set(torch.backends.cudnn, "is_available", lambda: True)
    patches.set(torch.backends.cudnn, "version", lambda: 91_900)
    patches.set(torch.backends.cudnn, "is_acceptable", _is_acceptable)
    patches.set(cudnn_rnn, "get_cudnn_mode", _CUDNN_MODES.__getitem__)
