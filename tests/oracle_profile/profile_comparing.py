"""Everything that a memory profile says, of PyTorch's or of ours, in plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.profiler._memory_profiler as theirs

from tidemark.compat import memory_profiler as ours

FLAGS = {"record_shapes": True, "profile_memory": True, "with_stack": True}


def profiled(body: Callable[[], object], **options: Any) -> torch.profiler.profile:
    """The finished profile of a call."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                **FLAGS, **options) as profile:  # fmt: skip
        body()
    return profile


def key(of: Any) -> tuple[Any, ...]:
    if not hasattr(of, "storage"):
        return (str(of.device),)
    return of.id, of.storage.allocation_id, of.storage.ptr, str(of.device)


def nodes(memory: Any) -> list[Any]:
    return [
        (
            node._event.name,
            node.start_time,
            [(key(k), e.input_version, e.mutated) for k, e in node._edges.items()],
            [(key(k), v) for k, v in node.inputs.items()],
            [(key(k), v) for k, v in node.outputs.items()],
            [key(k) for k in node.intermediates],
        )
        for node in memory._data_flow_graph.flow_nodes
    ]


def categories(memory: Any) -> dict[int, Any]:
    return {
        tensor: (
            known.by_id and known.by_id.name,
            {key(k): category.name for k, category in known.by_key.items()},
            {(key(k), v): category.name for (k, v), category in known.by_version.items()},
            {key(k) for k in known._by_id_keyset},
        )
        for tensor, known in memory._categories._values.items()
        if known.by_id or known.by_key or known.by_version
    }


def timeline(memory: Any) -> list[Any]:
    return [
        (time, action.name, key(k), version, bytes_)
        for time, action, (k, version), bytes_ in memory.timeline
    ]


def everything(module: Any, result: Any) -> dict[str, Any]:
    """What this module's classes say of a finished profile."""
    memory = module.MemoryProfile(result)
    snapshot = memory._category_snapshot().items()
    rows = module.MemoryProfileTimeline(memory)
    return {
        "nodes": nodes(memory),
        "events": [(e.name, e.start_time_ns) for e in memory._op_tree.sorted_nodes],
        "walk": [(e.name, e.start_time_ns) for e in memory._op_tree.dfs()],
        "leaves": [e.start_time_ns for e in memory._data_flow_graph.leaf_events],
        "sizes": {key(k): size for k, size in memory._size_map._values.items()},
        "categories": categories(memory),
        "snapshot": [((key(k), v), category and category.name) for (k, v), category in snapshot],
        "dependent": memory._any_version_depends_on_gradient(),
        "timeline": timeline(memory),
        "rows": rows._coalesce_timeline("cpu"),
        "no rows": rows._coalesce_timeline("cuda:3"),
    }


def both(profile: torch.profiler.profile) -> tuple[dict[str, Any], dict[str, Any]]:
    """PyTorch's answers and ours, of the same finished profile."""
    result = profile.profiler.kineto_results
    return everything(theirs, result), everything(ours, result)
