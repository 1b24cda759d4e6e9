"""Collectives of Python objects: what comes from other ranks is taken to be this rank's own."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tidemark.virtual_cuda.later_imports import when_imported
from tidemark.virtual_cuda.patches import Patches


def object_answers() -> dict[str, Callable[..., Any]]:
    """By the names that torch.distributed has for them."""
    return {
        "broadcast_object_list": keep_own,
        "send_object_list": keep_own,
        "recv_object_list": recv_object_list,
        "all_gather_object": all_gather_object,
        "gather_object": gather_object,
        "scatter_object_list": scatter_object_list,
        "monitored_barrier": keep_own,
    }


def keep_own(*_: Any, **__: Any) -> None:
    """What is there stays."""


def recv_object_list(object_list: list[Any], src: int | None = None, *_: Any, **__: Any) -> int:
    return src or 0


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    object_list[:] = [obj] * len(object_list)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, *_: Any, **__: Any) -> None:
    if object_gather_list is not None:
        object_gather_list[:] = [obj] * len(object_gather_list)


def scatter_object_list(scatter_object_output_list: list[Any],
                        scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: Any = None, *_: Any, **__: Any) -> None:
    import torch.distributed as dist

    if scatter_object_input_list:
        scatter_object_output_list[0] = scatter_object_input_list[dist.get_rank(group)]


def patch_gathered_states(patches: Patches) -> None:
    """ZeroRedundancyOptimizer gathers every rank's state: that of others is empty."""
    def replace(module: ModuleType) -> None:
        patches.set(module.ZeroRedundancyOptimizer, "consolidate_state_dict", consolidate_state_dict)

    when_imported(patches, "torch.distributed.optim.zero_redundancy_optimizer", replace)


def consolidate_state_dict(optimizer: Any, to: int = 0) -> None:
    if optimizer.rank != to:
        return
    optimizer._sync_param_groups(optimizer.param_groups, optimizer.optim.param_groups)
    optimizer._all_state_dicts = [
        optimizer.optim.state_dict() if rank == to else
        {"state": {}, "param_groups": [{**group, "params": list(range(len(group["params"])))}
                                       for group in groups]}
        for rank, groups in enumerate(optimizer._partition_parameters())]
