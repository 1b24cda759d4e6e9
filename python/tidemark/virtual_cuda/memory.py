"""torch.cuda's answers about memory, given by the model of its caching allocator."""

from __future__ import annotations

import collections
from typing import Any

import torch

from tidemark.gpus import Gpu
from tidemark.virtual_cuda.devices import checked_index
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

def _held(device: Any = None) -> tuple[int, int, int, int]:
    held: tuple[int, int, int, int] = library().memory_held(checked_index(device))
    return held


def allocated(device: Any = None) -> int:
    return _held(device)[0]


def max_allocated(device: Any = None) -> int:
    return _held(device)[1]


def reserved(device: Any = None) -> int:
    return _held(device)[2]


def max_reserved(device: Any = None) -> int:
    return _held(device)[3]


def reset_peak(device: Any = None) -> None:
    library().reset_peak(checked_index(device))


def reset_accumulated(device: Any = None) -> None:
    library().reset_totals(checked_index(device))


def nested_stats(device: Any = None) -> dict[str, Any]:
    told: dict[str, Any] = library().allocator_stats(checked_index(device))
    return told


def snapshot(mempool_id: Any = None, *_: Any, **__: Any) -> list[dict[str, Any]]:
    """Of one private pool where it is named."""
    return [segment for device in range(library().device_count())
            for segment in library().allocator_snapshot(device)
            if mempool_id is None or segment["segment_pool_id"] == tuple(mempool_id)]


def set_fraction(fraction: float, device: Any = None) -> None:
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = checked_index(device)
    _fractions[index] = fraction
    library().set_memory_fraction(index, fraction)


def set_settings(settings: str) -> None:
    library().set_allocator_settings(settings)


_fractions: dict[int, float] = {}


def stats(device: Any = None) -> dict[str, int]:
    flat: dict[str, int] = collections.OrderedDict()

    def flatten(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                flatten(f"{prefix}.{name}" if prefix else name, inner)
        else:
            flat[prefix] = value

    flatten("", nested_stats(device))
    return collections.OrderedDict(sorted(flat.items()))


def summary(device: Any = None, abbreviated: bool = False) -> str:
    return (
        f"virtual GPU {checked_index(device)}: {allocated(device)} bytes allocated, "
        f"{max_allocated(device)} at the peak; {reserved(device)} reserved, "
        f"{max_reserved(device)} at the peak"
    )


def patch_memory(patches: Patches, gpu: Gpu) -> None:
    _fractions.clear()

    def info(device: Any = None) -> tuple[int, int]:
        return max(gpu.memory_bytes - reserved(device), 0), gpu.memory_bytes

    answers = {
        "memory_allocated": allocated,
        "max_memory_allocated": max_allocated,
        "memory_reserved": reserved,
        "max_memory_reserved": max_reserved,
        "memory_cached": reserved,
        "max_memory_cached": max_reserved,
        "reset_peak_memory_stats": reset_peak,
        "reset_max_memory_allocated": reset_peak,
        "reset_max_memory_cached": reset_peak,
        "reset_accumulated_memory_stats": reset_accumulated,
        "memory_stats": stats,
        "memory_stats_as_nested_dict": nested_stats,
        "memory_summary": summary,
        "memory_snapshot": snapshot,
        "mem_get_info": info,
        "empty_cache": library().empty_cache,
        "get_allocator_backend": lambda: "native",
        "set_per_process_memory_fraction": set_fraction,
        "get_per_process_memory_fraction": lambda device=None: _fractions.get(checked_index(device), 1.0),
        "list_gpu_processes": lambda device=None: "",
        "host_memory_stats": lambda: {},
    }
    for owner in (torch.cuda, torch.cuda.memory):
        patches.set_all(owner, **answers)
    patches.set_all(
        torch.cuda.memory,
        _record_memory_history=lambda *args, **kwargs: None,
        _snapshot=lambda *args, **kwargs: {"segments": snapshot(), "device_traces": []},
        _dump_snapshot=lambda *args, **kwargs: None,
        _set_allocator_settings=set_settings,
    )
    patch_accelerator(patches, info)


def patch_accelerator(patches: Patches, info: Any) -> None:
    names = {
        "memory_allocated": allocated,
        "max_memory_allocated": max_allocated,
        "memory_reserved": reserved,
        "max_memory_reserved": max_reserved,
        "memory_stats": stats,
        "get_memory_info": info,
        "reset_peak_memory_stats": reset_peak,
        "reset_accumulated_memory_stats": reset_accumulated,
        "empty_cache": library().empty_cache,
    }
    for name, answer in names.items():
        for owner in (torch.accelerator, torch.accelerator.memory):
            if hasattr(owner, name):
                patches.set(owner, name, answer)
