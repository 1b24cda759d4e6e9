"""Drop-in for torch.distributed._tools.mem_tracker: memory by category, per module, while training.

Births and deaths of storages come from the allocators, not from a dispatch mode, so the program
that is measured runs as it would without a tracker. docs/compat/mem_tracker.md lists what differs.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

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
from tidemark.recording.follower import FollowedModule, Follower
from tidemark.recording.library import _recorder

__all__ = ["MemTracker"]

_PYTORCH_MIN_ALLOCATE = (
    2**9 if int(os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING", 0)) == 0 else 1
)
_TOTAL_KEY = "Total"

Snapshot = dict[torch.device, dict[str, int]]


class _RefType(str, Enum):
    """A kind of memory; its members are their own text."""


class _State(str, Enum):
    """A moment in a module's life; its members are their own text."""


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


class _UpdateType(Enum):
    """How a running count changes."""

    ADD = auto()
    DEL = auto()
    REF = auto()
    SIZE = auto()


# The order of the states and of the categories in C++.
_STATES = (
    _ModState.PRE_FW,
    _ModState.POST_FW,
    _ModState.PEAK_FW,
    _ModState.PRE_BW,
    _ModState.PRE_FW_AC,
    _ModState.POST_FW_AC,
    _ModState.POST_BW,
    _ModState.PEAK_BW,
)
_KEYS = (*_MemRefType, _TOTAL_KEY)


def _snapshot_of(rows: list[tuple[str, list[int]]]) -> Snapshot:
    return {
        torch.device(device): dict(zip(_KEYS, numbers, strict=True))
        for device, numbers in rows
    }


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


class _TrackedModMemStats(_ModMemStats):
    """The same, read from the tracker when somebody looks."""

    def __init__(self, mod_fqn: str, follower: Follower, module: FollowedModule) -> None:
        self.mod_fqn = mod_fqn
        self._tracker = follower.tracker
        self._calls = follower.calls
        self._module = module.alive
        self._number = module.number

    @property
    def input_mem(self) -> int:  # type: ignore[override]
        return self._of_last_call(0)

    @property
    def output_mem(self) -> int:  # type: ignore[override]
        return self._of_last_call(1)

    def _of_last_call(self, which: int) -> int:
        found = self._calls.last_call(self._number)[which]
        if found < 0:
            raise AttributeError(f"no call of {self.mod_fqn} has told it yet")
        return found

    @property
    def parameter_mem(self) -> int:  # type: ignore[override]
        module = self._module()
        return 0 if module is None else self._tracker.known_bytes(list(module.parameters()))

    @property
    def buffer_mem(self) -> int:  # type: ignore[override]
        module = self._module()
        return 0 if module is None else self._tracker.known_bytes(list(module.buffers()))

    @property
    def local_peak(self) -> dict[torch.device, int]:  # type: ignore[override]
        rows = self._tracker.local_peak(self._number)
        return {torch.device(device): numbers[-1] for device, numbers in rows}

    @property
    def snapshots(self) -> dict[_ModState, list[Snapshot]]:  # type: ignore[override]
        return {
            _STATES[state]: [_snapshot_of(rows) for rows in calls]
            for state, calls in self._tracker.stats(self._number)
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> _ModMemStats:
        copy = _ModMemStats(self.mod_fqn)
        for name in ("parameter_mem", "buffer_mem", "input_mem", "output_mem"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        copy.local_peak = self.local_peak
        copy.snapshots = self.snapshots
        return copy


class _WeakRefInfo:
    """Size, device and kind of one storage."""

    def __init__(self, size: int, element_size: int, device: torch.device, reftype: _RefType) -> None:
        self.size = size
        self.element_size = element_size
        self.reftype = reftype
        self.device = device
        self.mem_consumed = self._calculate_mem_consumed()

    def _calculate_mem_consumed(self) -> int:
        exact = self.size * self.element_size
        if self.device.type == "cuda":
            return math.ceil(exact / _PYTORCH_MIN_ALLOCATE) * _PYTORCH_MIN_ALLOCATE
        return exact

    def update_mem_consumed(self, st: torch.UntypedStorage) -> int:
        if st.size() != self.size:
            self.size = st.size()
            self.mem_consumed = self._calculate_mem_consumed()
        return self.mem_consumed

    @classmethod
    def create_winfo(
        cls,
        st: torch.UntypedStorage,
        device: torch.device,
        reftype: _RefType,
        callback: Callable[[_WeakRefInfo, Any], Any] | None = None,
    ) -> tuple[_WeakRefInfo, Any]:
        info = cls(st.size(), st.element_size(), device, reftype)
        dies = None if callback is None else (lambda ref: callback(info, ref))
        return info, weakref.ref(st, dies)


class _ModulesRunning:
    """What PyTorch's tracker keeps in its ModTracker: which modules run now."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    @property
    def parents(self) -> set[str]:
        return {"Global"} | self._follower.active_names()

    @property
    def is_bw(self) -> bool:
        return _recorder.current_backward() != -1

    def get_known_fqn(self, mod: nn.Module) -> str | None:
        return self._follower.names.find(mod)


class MemTracker:
    """Tracks the memory of what is created inside its context, and of what it is told of.

    >>> tracker = MemTracker()
    >>> tracker.track_external(model, optimizer, batch)
    >>> with tracker:
    ...     model(batch).sum().backward()
    >>> tracker.display_snapshot("peak", units="MiB")
    """

    def __init__(self) -> None:
        self._tracker = _recorder.Tracker(as_pytorch=True)
        self._follower = Follower(self._tracker, self._meet)
        self._follower.labels_arriving = True
        self._mod_tracker = _ModulesRunning(self._follower)
        self._memory_tracking: Any = WeakIdKeyDictionary()
        self._ref_class: type[_RefType] = _MemRefType
        self._depth = 0

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
        if type == "current":
            return _snapshot_of(self._tracker.current())
        if type == "peak":
            return _snapshot_of(self._tracker.peak())
        raise ValueError(f"Invalid type {type}")

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
            self._follower.start(outputs=active_fake_mode() is not None)
        self._depth += 1
        return self

    def __exit__(self, *_: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._follower.stop()

    def _meet(self, module: FollowedModule, name: str) -> _ModMemStats:
        return _TrackedModMemStats(name, self._follower, module)
