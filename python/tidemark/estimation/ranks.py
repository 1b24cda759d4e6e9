"""One rank in place of all: launchers of PyTorch run their program here, once, as one of its ranks.

Ranks of a training job need the same memory, nearly, and nothing is sent between virtual GPUs: one
rank in this process tells what each of them would.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tidemark.user_script import run_script
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def environment_of(rank: int, world_size: int, local_world_size: int) -> dict[str, str]:
    """The variables that torchrun sets for a rank."""
    local, node = rank % local_world_size, rank // local_world_size
    values = {
        "RANK": rank, "WORLD_SIZE": world_size,
        "LOCAL_RANK": local, "LOCAL_WORLD_SIZE": local_world_size,
        "GROUP_RANK": node, "GROUP_WORLD_SIZE": -(-world_size // local_world_size),
        "ROLE_RANK": rank, "ROLE_WORLD_SIZE": world_size, "ROLE_NAME": "default",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29500,
        "TORCHELASTIC_RUN_ID": "tidemark", "TORCHELASTIC_RESTART_COUNT": 0,
        "TORCHELASTIC_MAX_RESTARTS": 0,
    }
    return {name: str(value) for name, value in values.items()}


class DoneProcesses:
    """What a launcher hands out that does not wait: all of its processes have ended well."""

    processes: Sequence[Any] = ()

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        return True

    def pids(self) -> list[int]:
        return []


class Ranks:
    """Stands in for the launchers, from `patch` on."""

    def __init__(self, rank: int) -> None:
        self._rank = rank

    def patch(self, patches: Patches) -> None:
        import torch.multiprocessing

        # The package's name `spawn` is the function.
        spawning = sys.modules["torch.multiprocessing.spawn"]
        for owner in (torch.multiprocessing, spawning):
            patches.set(owner, "start_processes", self._start_processes)
        if torch.distributed.is_available():
            import torch.distributed.launcher.api as launcher

            patches.set(launcher, "launch_agent", self._launch_agent)

    def _start_processes(self, fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1,
                         join: bool = True, *_: Any, **__: Any) -> DoneProcesses | None:
        index = self._rank if self._rank < nprocs else 0
        note_rank(index, nprocs)
        with environment_restored():
            fn(index, *args)
        return None if join else DoneProcesses()

    def _launch_agent(self, config: Any, entrypoint: Any, args: list[Any],
                      *_: Any, **__: Any) -> dict[int, Any]:
        local_size = config.nproc_per_node
        size = local_size * config.max_nodes
        rank = self._rank if self._rank < size else 0
        note_rank(rank, size)
        with environment_restored():
            os.environ.update(environment_of(rank, size, local_size))
            result = run_entrypoint(entrypoint, args)
        return dict.fromkeys(range(local_size), result)


def note_rank(rank: int, world_size: int) -> None:
    tell_world(rank, world_size)
    if world_size > 1:
        library().note("one-rank", library().current_source(),
                       f"rank {rank} of {world_size} was run in place of all")


def tell_world(rank: int, world_size: int) -> None:
    """What the tape says of the job that this run is a part of."""
    library().set_meta("run.rank", str(rank))
    library().set_meta("run.world_size", str(world_size))


@contextmanager
def environment_restored() -> Iterator[None]:
    """A process of its own would have kept its variables and arguments to itself."""
    variables, arguments = dict(os.environ), sys.argv
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(variables)
        sys.argv = arguments


def run_entrypoint(entrypoint: Any, args: list[Any]) -> Any:
    """A function, or the command line of a Python script."""
    if callable(entrypoint):
        return entrypoint(*args)
    words = [str(entrypoint), *map(str, args)]
    if Path(words[0]).name.startswith("python"):
        words = words[2:] if words[1:2] == ["-u"] else words[1:]
    is_module = words[:1] == ["-m"]
    script, *arguments = words[1:] if is_module else words
    if not is_module and not script.endswith(".py"):
        raise RuntimeError(f"{script} is no Python script, and only these run on virtual GPUs")
    run_script(script, arguments, is_module)
    return None
