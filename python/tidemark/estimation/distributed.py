"""torch.distributed over ranks that are not there: the fake process group, this rank's own objects."""

from __future__ import annotations

import os
from typing import Any

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def set_environment(world_size: int, rank: int, gpus: int) -> None:
    """The variables torchrun sets. One rank sets none, as a plain `python train.py`."""
    if world_size == 1:
        return
    local = rank % max(gpus, 1)
    values = {
        "WORLD_SIZE": world_size, "RANK": rank, "LOCAL_RANK": local,
        "LOCAL_WORLD_SIZE": min(world_size, max(gpus, 1)), "GROUP_RANK": rank // max(gpus, 1),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "tidemark",
    }
    os.environ.update({name: str(value) for name, value in values.items()})


def patch_distributed(patches: Patches, world_size: int, rank: int) -> None:
    import torch.distributed as dist

    if not dist.is_available():
        return
    from torch.testing._internal.distributed.fake_pg import FakeStore

    init, new_group = dist.init_process_group, dist.new_group

    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        kept = {name: kwargs[name] for name in ("timeout", "group_name") if name in kwargs}
        init(
            "fake",
            store=FakeStore(),
            rank=kwargs.get("rank", -1) if kwargs.get("rank", -1) >= 0 else rank,
            world_size=kwargs.get("world_size", -1) if kwargs.get("world_size", -1) > 0 else world_size,
            **kept,
        )
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
            output[0] = inputs[rank]

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
