"""Drop-in for torch.distributed._tools.mem_tracker: memory by category, per module, while training.

Births and deaths of storages come from the allocators, not from a dispatch mode, so the program
that is measured runs as it would without a tracker. docs/compat/mem_tracker.md lists what differs.
"""

from __future__ import annotations

from typing import Any

from tidemark.recording.library import _recorder  # first: it checks that torch has the rest

import torch
from torch import nn, optim
from torch._guards import active_fake_mode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from tidemark.compat.snapshot_printing import (
    _get_mem_divisor,
    _print_snapshot,
    _print_snapshot_tabular,
    _print_state_snapshots,
    _print_state_snapshots_tabular,
    _rounding_fn,
    natural_order,
)
from tidemark.compat.mod_tracker import ModTracker
from tidemark.compat.storage_info import (
    _PYTORCH_MIN_ALLOCATE,
    _TOTAL_KEY,
    Snapshot,
    _RefType,
    _State,
    _UpdateType,
    _WeakRefInfo,
)
from tidemark.compat.told_memory import ToldMemory, storages_of
from tidemark.compat.tracked_stats import TrackedStats, snapshot_of
from tidemark.recording.follower import FollowedModule, Follower

__all__ = ["MemTracker"]

class _MemRefType(_RefType):
    """What a storage is for."""

    PARAM = "Parameter"
    BUFFER = "Buffer"
    GRAD = "Gradient"
    ACT = "Activation"
    TEMP = "Temp"
    OPT = "Optstate"
    OTH = "Other"


class _ModState(_State):
    """When a snapshot of a module was taken."""

    PRE_FW = "Pre-Forward"
    POST_FW = "Post-Forward"
    PEAK_FW = "Peak-Forward"
    PRE_BW = "Pre-Backward"
    PRE_FW_AC = "Pre-Forward-AC"
    POST_FW_AC = "Post-Forward-AC"
    POST_BW = "Post-Backward"
    PEAK_BW = "Peak-Backward"


class _ModMemStats:
    """What is known of one module: its own bytes, and snapshots by state, one per call."""

    parameter_mem: int
    buffer_mem: int
    input_mem: int
    output_mem: int

    def __init__(self, mod_fqn: str) -> None:
        self.mod_fqn = mod_fqn
        self.local_peak: dict[torch.device, int] = {}
        self.snapshots: dict[_ModState, list[Snapshot]] = {}


class _TrackedModMemStats(TrackedStats, _ModMemStats):  # type: ignore[misc, override]
    """The same, read from the tracker when somebody looks."""

    _kinds, _states = _MemRefType, _ModState
    _copied = ("parameter_mem", "buffer_mem", "input_mem", "output_mem", "local_peak", "snapshots")

    def __init__(self, mod_fqn: str, follower: Follower, module: FollowedModule) -> None:
        super().__init__(mod_fqn, follower.tracker, module.number)
        self.parameter_mem, self.buffer_mem = _own_bytes(follower.tracker, module.alive())

    @property
    def input_mem(self) -> int:  # type: ignore[override]
        return self._of_last_call(0)

    @property
    def output_mem(self) -> int:  # type: ignore[override]
        return self._of_last_call(1)

    def _of_last_call(self, which: int) -> int:
        found: int = self._tracker.last_call(self._number)[which]
        if found < 0:
            raise AttributeError(f"no call of {self.mod_fqn} has told it yet")
        return found


def _own_bytes(tracker: Any, module: nn.Module | None) -> tuple[int, int]:
    """Of parameters and buffers, as they are at the module's first call."""
    if module is None:
        return 0, 0
    return (tracker.known_bytes(list(module.parameters())),
            tracker.known_bytes(list(module.buffers())))


class _ModulesRunning(ModTracker):
    """Which modules run now: as the follower has it, or, entered by itself, as any ModTracker."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        super().__init__()
        self._names = follower.names

    @property
    def parents(self) -> set[str]:
        if self._follower.tracker.is_running:
            return {"Global"} | self._follower.active_names()
        return self._parents

    @parents.setter
    def parents(self, parents: set[str]) -> None:
        self._parents = parents


class MemTracker(ToldMemory):  # type: ignore[no-untyped-call]
    """Tracks the memory of what is created inside its context, and of what it is told of.

    >>> tracker = MemTracker()
    >>> tracker.track_external(model, optimizer, batch)
    >>> with tracker:
    ...     model(batch).sum().backward()
    >>> tracker.display_snapshot("peak", units="MiB")
    """

    _kinds: type[_RefType] = _MemRefType
    _like = "MemTracker"  # as C++ knows it

    def __init__(self) -> None:
        super().__init__(self._kinds)
        self._tracker = _recorder.Tracker(like=self._like)
        self._follower = self._make_follower()
        self._categories = {self._kinds(name): ours for name, ours in self._tracker.categories}
        self._mod_tracker = _ModulesRunning(self._follower)
        self._memory_tracking: Any = WeakIdKeyDictionary()
        self._depth = 0

    def _make_follower(self) -> Follower:
        return Follower(self._tracker, self._meet, as_pytorch=True)

    def track_external(self, *external: Any) -> None:
        """Makes modules, optimizers and tensors known that were created outside."""
        for value in tree_leaves(external):
            if isinstance(value, torch.Tensor):
                self._follower.label(value, "Other")
            elif isinstance(value, nn.Module):
                self._follower.label_module(value, hook_gradients=False)
            elif isinstance(value, optim.Optimizer):
                self._follower.label_optimizer(value)
            elif value is not None:
                raise TypeError(
                    f"track_external takes modules, optimizers and tensors, not {type(value)}"
                )

    def get_tracker_snapshot(self, type: str = "current") -> Snapshot:
        """The bytes now, or at the peak of each device."""
        if type not in ("current", "peak"):
            raise ValueError(f"Invalid type {type}")
        if self._is_told:
            return self._told_snapshot(type)
        return snapshot_of(getattr(self._tracker, type)(), self._kinds)

    def display_snapshot(
        self, type: str = "current", units: str = "B", tabulate: bool = False
    ) -> None:
        """Prints a snapshot."""
        snapshot = self.get_tracker_snapshot(type)
        (_print_snapshot_tabular if tabulate else _print_snapshot)(snapshot, units)

    def display_modulewise_snapshots(
        self, depth: int = 2, units: str = "B", tabulate: bool = False
    ) -> None:
        """Prints the snapshots of every module down to a depth."""
        show = _print_state_snapshots_tabular if tabulate else _print_state_snapshots
        stats = sorted(self.memory_tracking.values(), key=lambda one: natural_order(one.mod_fqn))
        for one in stats:
            if one.mod_fqn.count(".") + 1 <= depth:
                print(f"Module:  {one.mod_fqn}")
                show(one.snapshots, units)

    @property
    def memory_tracking(self) -> Any:
        """What is known of each module, by the module; it vanishes with it."""
        for module, stats in self._follower.modules_with_stats():
            if self._memory_tracking.get(module) is not stats:
                self._memory_tracking[module] = stats
        return self._memory_tracking

    def reset_mod_stats(self) -> None:
        """Forgets what was recorded of modules."""
        self._memory_tracking.clear()
        self._follower.forget_stats()

    def __enter__(self) -> MemTracker:
        if self._depth == 0:
            self._start()
        self._depth += 1
        return self

    def __exit__(self, *_: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._stop()

    def _start(self) -> None:
        self._follower.start(outputs=active_fake_mode() is not None)

    def _stop(self) -> None:
        self._follower.stop()

    def _update_and_maybe_create_winfos(
        self, t: torch.Tensor, reftype: _RefType, update_existing: bool = False
    ) -> set[_WeakRefInfo]:
        if self._is_told:
            return super()._update_and_maybe_create_winfos(t, reftype, update_existing)
        storages = storages_of(t)
        if update_existing and any(self._tracker.category_of(one._cdata) is None for one in storages):
            raise KeyError("No existing winfo found")
        self._follower.label(t, self._categories[self._kinds(reftype)])
        return {_WeakRefInfo(one.size(), 1, t.device, reftype) for one in storages}

    def _meet(self, module: FollowedModule, name: str) -> _ModMemStats:
        return _TrackedModMemStats(name, self._follower, module)
