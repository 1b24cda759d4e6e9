"""Drop-ins for PyTorch's own memory tools: the same names, the same answers, fewer surprises.

Each name can be had from here, too; what it needs, torch among it, is loaded when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidemark.compat.fsdp2_mem_tracker import FSDPMemTracker
    from tidemark.compat.mem_tracker import MemTracker
    from tidemark.compat.memory_estimator import (
        GraphAliasTracker,
        MemoryTracker,
        StorageKey,
        build_memory_profile,
        device_filter,
        get_fwd_bwd_interactions,
        get_peak_memory,
    )
    from tidemark.compat.memory_profiler import (
        CategoryDict,
        DataFlowGraph,
        MemoryProfile,
        MemoryProfileTimeline,
        OpTree,
        SchemaMatcher,
        SizeMap,
        TensorKey,
    )
    from tidemark.compat.mod_tracker import ModTracker

__all__ = [
    "CategoryDict",
    "DataFlowGraph",
    "FSDPMemTracker",
    "GraphAliasTracker",
    "MemTracker",
    "MemoryProfile",
    "MemoryProfileTimeline",
    "MemoryTracker",
    "ModTracker",
    "OpTree",
    "SchemaMatcher",
    "SizeMap",
    "StorageKey",
    "TensorKey",
    "build_memory_profile",
    "device_filter",
    "get_fwd_bwd_interactions",
    "get_peak_memory",
]

_HOMES = {  # others: memory_estimator
    "FSDPMemTracker": "fsdp2_mem_tracker",
    "MemTracker": "mem_tracker",
    "ModTracker": "mod_tracker",
}
_HOMES |= dict.fromkeys(
    (
        "CategoryDict",
        "DataFlowGraph",
        "MemoryProfile",
        "MemoryProfileTimeline",
        "OpTree",
        "SchemaMatcher",
        "SizeMap",
        "TensorKey",
    ),
    "memory_profiler",
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'memory_estimator')}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
