"""Private memory pools: their names, who uses them, and torch.cuda.MemPool."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

Pool = tuple[int, int]

_graph_pools, _user_pools = itertools.count(1), itertools.count(1)
_machines = itertools.count(1)
_machine = 0  # that is on now: what is left from another one is none of its business


def new_graph_pool() -> Pool:
    """For a graph that was given none."""
    return next(_graph_pools), 0


def new_user_pool() -> Pool:
    return 0, next(_user_pools)


class PoolUser:
    """Whoever keeps a pool of the current GPU from being given back."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._library = library()  # not to be looked for when the interpreter ends
        self.device: int = self._library.current_device()
        self._machine = _machine
        self._is_user = True
        self._library.share_pool(self.device, pool)

    def open_way(self) -> None:
        """Births of all threads come from the pool."""
        self._library.open_way(self.device, self.pool, False)

    def close_way(self) -> None:
        if self._is_here():
            self._library.close_way(self.device, self.pool)

    def leave(self, gives_back: bool = False) -> None:
        if self._is_user and self._is_here():
            self._library.release_pool(self.device, self.pool, gives_back)
        self._is_user = False

    def users(self) -> int:
        users: int = self._library.pool_users(self.device, self.pool)
        return users

    def _is_here(self) -> bool:
        return self._machine == _machine and bool(self._library.is_open())


class MemPool:
    """torch.cuda.MemPool of the virtual machine."""

    def __init__(self, allocator: Any = None, *_: Any, **__: Any) -> None:
        self._user = PoolUser(new_user_pool())
        self.allocator = allocator

    @property
    def id(self) -> Pool:
        return self._user.pool

    @property
    def device(self) -> int:
        return self._user.device

    def use_count(self) -> int:
        return self._user.users()

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        cuda: Any = torch.cuda  # torch does not type it
        found: list[dict[str, Any]] = cuda.memory_snapshot(self.id)
        return found

    def __del__(self) -> None:
        if hasattr(self, "_user"):
            self._user.leave(gives_back=True)


def _open_way(device: int, pool: Pool, of_this_thread: bool) -> None:
    library().share_pool(device, pool)
    library().open_way(device, pool, of_this_thread)


def patch_pools(patches: Patches) -> None:
    global _machine
    _machine = next(_machines)
    answers = {
        "_cuda_beginAllocateCurrentThreadToPool": lambda device, pool: _open_way(device, pool, True),
        "_cuda_beginAllocateToPool": lambda device, pool: _open_way(device, pool, False),
        "_cuda_endAllocateToPool": lambda device, pool: library().close_way(device, pool),
        "_cuda_releasePool": lambda device, pool: library().release_pool(device, pool, False),
    }
    for owner in (torch._C, torch.cuda.memory):
        patches.set_all(owner, **answers)
    for owner in (torch.cuda, torch.cuda.memory):
        patches.set(owner, "MemPool", MemPool)
