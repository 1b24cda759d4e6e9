"""torch.distributed over ranks that are not there: a process group that sends nothing, and its answers."""

from __future__ import annotations

import inspect
import os
from typing import Any

from tidemark.estimation.list_sharding import patch_list_sharding
from tidemark.estimation.object_collectives import keep_own, object_answers, patch_gathered_states
from tidemark.estimation.own_store import make_own_store
from tidemark.estimation.ranks import tell_world
from tidemark.estimation.sharded_checkpoints import patch_sharded_checkpoints
from tidemark.estimation.single_chunks import patch_chunks
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def place_in_world(told: dict[str, Any]) -> tuple[int, int]:
    """Rank and size, by what init_process_group was told, else by the variables of a launcher."""
    rank, size = told.get("rank", -1), told.get("world_size", -1)
    return (rank if rank >= 0 else int(os.environ.get("RANK", 0)),
            size if size > 0 else int(os.environ.get("WORLD_SIZE", 1)))


class NcclStandIn:
    """No group is one; but programs make options for them."""

    class Options:
        def __init__(self, *_: Any, **__: Any) -> None:
            self.config = type("Config", (), {})()


class NcclGroups:
    """Counts the groups for which NCCL would make a communicator, with buffers of its own."""

    def __init__(self) -> None:
        self._count = 0
        self._first = ""  # the backend of the first group is that of those that name none

    def tell(self, backend: Any, size: int) -> None:
        self._first = self._first or str(backend or "nccl")
        if size > 1 and "nccl" in str(backend or self._first):
            self._count += 1
            library().set_meta("run.nccl_groups", str(self._count))


def patch_distributed(patches: Patches) -> None:
    import torch.distributed as dist

    if not dist.is_available():
        return
    import torch.testing._internal.distributed.fake_pg  # noqa: F401: it registers the backend

    init, new_group, store = dist.init_process_group, dist.new_group, make_own_store()
    communicators = NcclGroups()

    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        told = inspect.signature(init).bind(backend, *args, **kwargs).arguments
        kept = {name: told[name] for name in ("timeout", "group_name") if name in told}
        rank, world_size = place_in_world(told)
        init("fake", store=store, rank=rank, world_size=world_size, **kept)
        tell_world(rank, world_size)
        communicators.tell(backend, world_size)
        assert dist.group.WORLD is not None
        library().answer_collectives(dist.group.WORLD.group_name)

    def make_group(*args: Any, **kwargs: Any) -> Any:
        backend = kwargs.get("backend")
        kwargs["backend"] = "fake"
        kwargs.pop("pg_options", None)  # of the backend that it is not
        group = new_group(*args, **kwargs)
        if isinstance(group, dist.ProcessGroup):  # not where this rank is no member
            library().answer_collectives(group.group_name)
            communicators.tell(backend, group.size())
        return group

    answers = {
        "init_process_group": init_process_group,
        "new_group": make_group,
        "is_nccl_available": lambda: True,
    } | {name: answer for name, answer in object_answers().items() if hasattr(dist, name)}
    for owner in (dist, dist.distributed_c10d):
        if not hasattr(owner, "ProcessGroupNCCL"):  # a build without NCCL
            patches.set(owner, "ProcessGroupNCCL", NcclStandIn)
    patches.set(dist.distributed_c10d, "_set_pg_timeout", keep_own)
    # torch.distributed.device_mesh and others have bound these names when they were imported.
    patches.set_wherever_bound(dist, answers)
    patch_list_sharding(patches)
    patch_chunks(patches)
    patch_gathered_states(patches)
    patch_sharded_checkpoints(patches)
