"""Global hooks on modules and optimizers, put and taken away while other threads may train.

PyTorch walks over its tables of hooks as it calls them, and a table that changes meanwhile ends the
walk with an error in the middle of the program. So a table is changed when nobody walks over it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers
from torch.utils.hooks import RemovableHandle

from tidemark.recording.fork_safe_lock import ForkSafeLock
from tidemark.recording.library import _recorder

PATIENCE = 100  # looks at a table, a millisecond apart, before whoever uses it is taken to stay
_WALKERS = ("odict_iterator", "odict_items", "odict_keys", "odict_values")
_LOCK = ForkSafeLock()
_stay: dict[str, int] = {}  # tables that somebody has imported, and how many have


class GlobalHooks:
    """The hooks of one follower in PyTorch's tables."""

    def __init__(self) -> None:
        self._put: list[tuple[Any, str, int]] = []

    def before_forward(self, hook: Callable[..., Any]) -> None:
        self._add(modules, "_global_forward_pre_hooks", hook)

    def after_forward(self, hook: Callable[..., Any]) -> None:
        """Also after a forward that raised."""
        number = _next_number()
        self._add_as(number, modules, "_global_forward_hooks_always_called", True)
        self._add_as(number, modules, "_global_forward_hooks", hook)

    def before_step(self, hook: Callable[..., Any]) -> None:
        self._add(optimizers, "_global_optimizer_pre_hooks", hook)

    def after_step(self, hook: Callable[..., Any]) -> None:
        self._add(optimizers, "_global_optimizer_post_hooks", hook)

    def remove(self) -> None:
        while self._put:
            module, table, number = self._put.pop()
            _change(module, table, number, None)

    def _add(self, module: Any, table: str, hook: Callable[..., Any]) -> None:
        self._add_as(_next_number(), module, table, hook)

    def _add_as(self, number: int, module: Any, table: str, hook: Any) -> None:
        _change(module, table, number, hook)
        self._put.append((module, table, number))


def _next_number() -> int:
    """One that none of PyTorch's own handles has."""
    return int(RemovableHandle(modules._global_forward_hooks).id)


def _change(module: Any, table: str, number: int, hook: Any) -> None:
    with _LOCK:
        for _ in range(PATIENCE):
            users = _recorder.change_table(module, table, number, hook, _stay.get(table, 0))
            if users == 0:
                return
            time.sleep(0.001)
        _change_in_use(module, table, number, hook, users)


def _change_in_use(module: Any, table: str, number: int, hook: Any, users: int) -> None:
    """Somebody keeps the table: one who imported it sees the change, one who walks gets a new table
    beside the old one."""
    hooks = getattr(module, table)
    if any(type(one).__name__ in _WALKERS for one in gc.get_referrers(hooks)):
        hooks = hooks.copy()
    else:
        _stay[table] = users
    if hook is None:
        hooks.pop(number, None)
    else:
        hooks[number] = hook
    setattr(module, table, hooks)
