"""torch.cuda's answers about memory, given by our ledger: a script that prints its peak prints the
estimate."""

from __future__ import annotations

import collections
from typing import Any

import torch

from tidemark.gpus import Gpu
from tidemark.virtual_cuda.devices import checked_index
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

# The caching allocator takes memory from the device in segments; its model comes with a later
# version, so reserved bytes are taken to be the allocated ones.
_POOLS = ("all", "small_pool", "large_pool")


def _counters(device: Any = None) -> dict[str, int]:
    counters: dict[str, int] = library().counters(checked_index(device))
    return counters


def allocated(device: Any = None) -> int:
    return _counters(device)["allocated"]


def max_allocated(device: Any = None) -> int:
    return _counters(device)["allocated_peak"]


def reset_peak(device: Any = None) -> None:
    library().reset_peak(checked_index(device))


def _family(current: int, peak: int, total: int) -> dict[str, int]:
    return {"current": current, "peak": peak, "allocated": total, "freed": total - current}


def nested_stats(device: Any = None) -> dict[str, Any]:
    c = _counters(device)
    of_bytes = _family(c["allocated"], c["allocated_peak"], c["allocated_total"])
    of_requests = _family(c["requested"], c["requested_peak"], c["requested_total"])
    of_counts = _family(c["births"] - c["deaths"], c["births_alive_peak"], c["births"])
    nothing = _family(0, 0, 0)

    def pools(family: dict[str, int]) -> dict[str, dict[str, int]]:
        return {pool: dict(family if pool != "small_pool" else nothing) for pool in _POOLS}

    return {
        "allocated_bytes": pools(of_bytes),
        "active_bytes": pools(of_bytes),
        "reserved_bytes": pools(of_bytes),
        "requested_bytes": pools(of_requests),
        "inactive_split_bytes": pools(nothing),
        "allocation": pools(of_counts),
        "active": pools(of_counts),
        "segment": pools(of_counts),
        "inactive_split": pools(nothing),
        "oversize_allocations": dict(nothing),
        "oversize_segments": dict(nothing),
        "num_alloc_retries": 0,
        "num_ooms": 0,
        "max_split_size": -1,
        "num_sync_all_streams": 0,
        "num_device_alloc": c["births"],
        "num_device_free": c["deaths"],
    }


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
        f"{max_allocated(device)} at the peak"
    )


def patch_memory(patches: Patches, gpu: Gpu) -> None:
    def info(device: Any = None) -> tuple[int, int]:
        return max(gpu.memory_bytes - allocated(device), 0), gpu.memory_bytes

    answers = {
        "memory_allocated": allocated,
        "max_memory_allocated": max_allocated,
        "memory_reserved": allocated,
        "max_memory_reserved": max_allocated,
        "memory_cached": allocated,
        "max_memory_cached": max_allocated,
        "reset_peak_memory_stats": reset_peak,
        "reset_max_memory_allocated": reset_peak,
        "reset_max_memory_cached": reset_peak,
        "reset_accumulated_memory_stats": lambda device=None: None,
        "memory_stats": stats,
        "memory_stats_as_nested_dict": nested_stats,
        "memory_summary": summary,
        "memory_snapshot": lambda *args, **kwargs: [],
        "mem_get_info": info,
        "empty_cache": lambda: None,
        "get_allocator_backend": lambda: "native",
        "set_per_process_memory_fraction": lambda fraction, device=None: None,
        "get_per_process_memory_fraction": lambda device=None: 1.0,
        "list_gpu_processes": lambda device=None: "",
        "host_memory_stats": lambda: {},
    }
    for owner in (torch.cuda, torch.cuda.memory):
        patches.set_all(owner, **answers)
    patches.set_all(
        torch.cuda.memory,
        _record_memory_history=lambda *args, **kwargs: None,
        _snapshot=lambda *args, **kwargs: {"segments": [], "device_traces": []},
        _dump_snapshot=lambda *args, **kwargs: None,
        _set_allocator_settings=lambda settings: None,
    )
    patch_accelerator(patches, info)


def patch_accelerator(patches: Patches, info: Any) -> None:
    names = {
        "memory_allocated": allocated,
        "max_memory_allocated": max_allocated,
        "memory_reserved": allocated,
        "max_memory_reserved": max_allocated,
        "memory_stats": stats,
        "get_memory_info": info,
        "reset_peak_memory_stats": reset_peak,
        "reset_accumulated_memory_stats": lambda device=None: None,
        "empty_cache": lambda: None,
    }
    for name, answer in names.items():
        for owner in (torch.accelerator, torch.accelerator.memory):
            if hasattr(owner, name):
                patches.set(owner, name, answer)
