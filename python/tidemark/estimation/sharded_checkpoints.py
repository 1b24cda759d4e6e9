"""torch.distributed.checkpoint with the shards of the one rank that runs: it saves and loads its own.

The ranks of a job agree on who saves what. Others are not there, so this one plans alone, and a plan
that does not hold all of a tensor is as it should be.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tidemark.virtual_cuda.later_imports import when_imported
from tidemark.virtual_cuda.patches import Patches


def patch_sharded_checkpoints(patches: Patches) -> None:
    def plan_alone(module: ModuleType) -> None:
        wrapper = module._DistWrapper
        patches.set(wrapper, "__init__", alone(wrapper.__init__))

    def accept_parts(module: ModuleType) -> None:
        patches.set(module, "_validate_global_plan", accepting(module._validate_global_plan))

    def copy_plainly(module: ModuleType) -> None:
        if hasattr(module.StateDictStager, "_offload_tensor"):
            patches.set(module.StateDictStager, "_offload_tensor", copy_to_host)

    when_imported(patches, "torch.distributed.checkpoint.utils", plan_alone)
    when_imported(patches, "torch.distributed.checkpoint.default_planner", accept_parts)
    when_imported(patches, "torch.distributed.checkpoint._state_dict_stager", copy_plainly)


def alone(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(wrapper: Any, group: Any, use_dist: bool, coordinator_rank: int) -> None:
        original(wrapper, group, False, coordinator_rank)

    return __init__


def accepting(original: Callable[..., Any]) -> Callable[..., Any]:
    """Some versions of PyTorch ask whether a plan is good, later ones what is wrong with it."""
    def _validate_global_plan(*plan: Any) -> Any:
        return [] if isinstance(original(*plan), list) else True

    return _validate_global_plan


def copy_to_host(stager: Any, tensor: Any, memo: dict[int, Any], *_: Any, **__: Any) -> Any:
    """Saving in the background copies storages byte by byte; a virtual GPU's have none."""
    memo[id(tensor)] = tensor.detach().to("cpu")
    return memo[id(tensor)]
