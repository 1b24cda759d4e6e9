"""torch.distributed over ranks that are not there: the fake process group, this rank's own objects."""

from __future__ import annotations

import inspect
import os
from typing import Any

from tidemark.estimation.list_sharding import patch_list_sharding
from tidemark.estimation.ranks import tell_world
from tidemark.estimation.single_chunks import patch_chunks
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def place_in_world(told: dict[str, Any]) -> tuple[int, int]:
    """Rank and size, by what init_process_group was told, else by the variables of a launcher."""
    rank, size = told.get("rank", -1), told.get("world_size", -1)
    return (rank if rank >= 0 else int(os.environ.get("RANK", 0)),
            size if size > 0 else int(os.environ.get("WORLD_SIZE", 1)))


def patch_distributed(patches: Patches) -> None:
    import torch.distributed as dist

    if not dist.is_available():
        return
    from torch.testing._internal.distributed.fake_pg import FakeStore

    init, new_group = dist.init_process_group, dist.new_group

    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        told = inspect.signature(init).bind(backend, *args, **kwargs).arguments
        kept = {name: told[name] for name in ("timeout", "group_name") if name in told}
        rank, world_size = place_in_world(told)
        init("fake", store=FakeStore(), rank=rank, world_size=world_size, **kept)
        tell_world(rank, world_size)
        assert dist.group.WORLD is not None
        library().answer_collectives(dist.group.WORLD.group_name)

    def make_group(*args: Any, **kwargs: Any) -> Any:
        kwargs["backend"] = "fake"
        group = new_group(*args, **kwargs)
        if isinstance(group, dist.ProcessGroup):  # not where this rank is no member
            library().answer_collectives(group.group_name)
        return group

    def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
        object_list[:] = [obj] * len(object_list)

    def gather_object(obj: Any, object_gather_list: Any = None, *_: Any, **__: Any) -> None:
        if object_gather_list is not None:
            object_gather_list[:] = [obj] * len(object_gather_list)

    def scatter_object_list(output: list[Any], inputs: Any = None, *_: Any, **__: Any) -> None:
        if inputs:
            output[0] = inputs[dist.get_rank()]

    answers = {
        "init_process_group": init_process_group,
        "new_group": make_group,
        "is_nccl_available": lambda: True,
        "broadcast_object_list": lambda *args, **kwargs: None,
        "all_gather_object": all_gather_object,
        "gather_object": gather_object,
        "scatter_object_list": scatter_object_list,
    }
    # torch.distributed.device_mesh and others have bound these names when they were imported.
    patches.set_wherever_bound(dist, answers)
    patch_list_sharding(patches)
    patch_chunks(patches)
