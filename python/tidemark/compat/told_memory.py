"""What a subclass of MemTracker stands on that says itself what each tensor is.

PyTorch's FSDPMemTracker is one: a dispatch mode with kinds of memory of its own (`_ref_class`). The
recorder in C++ does not know such kinds, so their bytes are counted here, storage by storage.
"""

from __future__ import annotations

import weakref
from copy import deepcopy
from typing import Any

import torch
from torch import optim
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from tidemark.compat.storage_info import (
    _TOTAL_KEY,
    Snapshot,
    _RefType,
    _State,
    _UpdateType,
    _WeakRefInfo,
)
from tidemark.optimizer_steps import tensors_below
from tidemark.recording.resizes import ResizeFollower, tell_of_resizes
from tidemark.tensor_parts import parts_of


class ToldMemory(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch types no modes
    """Bytes by kind and device, told tensor by tensor. A mode only if the subclass enters it as one."""

    memory_tracking: Any
    _mod_tracker: Any

    def __init__(self, kinds: type[_RefType]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._own_kinds = kinds
        self._ref_class: type[_RefType] = kinds
        self._curr_mem_snap: Snapshot = {}
        self._peak_mem_snap: Snapshot = {}
        self._peak_mem: dict[torch.device, int] = {}
        self._WINFO: Any = WeakIdKeyDictionary()
        self._resizes = ResizeFollower()
        self._optimizer_hook_handles: Any = None
        self._in_opt = False
        self._in_ac = False
        self._ac_mod: weakref.ref[Any] | None = None

    @property
    def _is_told(self) -> bool:
        """Whether a subclass has put its own kinds of memory in place of ours."""
        return self._ref_class is not self._own_kinds

    def _told_snapshot(self, type: str) -> Snapshot:
        return deepcopy(self._curr_mem_snap if type == "current" else self._peak_mem_snap)

    def _update_and_maybe_create_winfos(
        self, t: torch.Tensor, reftype: _RefType, update_existing: bool = False
    ) -> set[_WeakRefInfo]:
        """Says what a tensor's storages are, whatever they were before."""
        infos = set()
        for storage in storages_of(t):
            info = self._info_of(storage)
            if info is None and update_existing:
                raise KeyError("No existing winfo found")
            if info is None:
                info = self._begin_to_count(storage, t.device, reftype)
            elif info.reftype != reftype:
                old, info.reftype = info.reftype, reftype
                self._update_snap(_UpdateType.REF, info, old_reftype=old)
            infos.add(info)
        return infos

    def _track(self, reftype: _RefType, t: torch.Tensor) -> None:
        """Counts what an operator returned; a storage that is known stays what it is."""
        for storage in storages_of(t):
            if self._info_of(storage) is None:
                self._begin_to_count(storage, t.device, reftype)
            else:
                self._look_at_size(storage)

    def _track_optimizer_states(self, reftype: _RefType, optimizer: optim.Optimizer) -> None:
        for tensor in tensors_below(optimizer.state, opens_objects=False):
            self._update_and_maybe_create_winfos(tensor, reftype)

    def _update_snap(
        self,
        u_type: _UpdateType,
        winfo: _WeakRefInfo,
        old_mem_consumed: int | None = None,
        old_reftype: _RefType | None = None,
    ) -> None:
        """Changes the running count of a device; a device with nothing on it has no row."""
        row = self._curr_mem_snap.setdefault(
            winfo.device, {**dict.fromkeys(self._ref_class, 0), _TOTAL_KEY: 0}
        )
        changes: dict[str, int]
        if u_type is _UpdateType.REF:
            assert old_reftype is not None
            changes = {old_reftype: -winfo.mem_consumed}
            changes[winfo.reftype] = changes.get(winfo.reftype, 0) + winfo.mem_consumed
        else:
            grown = {
                _UpdateType.ADD: winfo.mem_consumed,
                _UpdateType.DEL: -winfo.mem_consumed,
                _UpdateType.SIZE: winfo.mem_consumed - (old_mem_consumed or 0),
            }[u_type]
            changes = {winfo.reftype: grown, _TOTAL_KEY: grown}
        for key, change in changes.items():
            row[key] += change
        if row[_TOTAL_KEY] == 0:
            del self._curr_mem_snap[winfo.device]

    def _delete_callback(self, winfo: _WeakRefInfo, w_st: weakref.ref[Any]) -> None:
        if winfo.mem_consumed > 0:
            self._update_snap(_UpdateType.DEL, winfo)

    def _update_peak_stats(self, peak_state: _State) -> None:
        """Looks whether this moment is a peak: of the modules that run, and of all."""
        running = self._mod_tracker.parents
        for stats in self.memory_tracking.values():
            if stats.mod_fqn in running and peak_state in stats.snapshots:
                self._raise(stats.local_peak, stats.snapshots[peak_state][-1])
        self._raise(self._peak_mem, self._peak_mem_snap)

    def _raise(self, totals: dict[torch.device, int], highest: Snapshot) -> None:
        for device, row in self._curr_mem_snap.items():
            if row[_TOTAL_KEY] > totals.get(device, 0):
                totals[device] = row[_TOTAL_KEY]
                highest[device] = dict(row)

    def _track_resize(self) -> None:
        self._resizes.start()

    def _restore_resize(self) -> None:
        self._resizes.stop()

    def _info_of(self, storage: torch.UntypedStorage) -> _WeakRefInfo | None:
        info: _WeakRefInfo | None = self._WINFO.get(storage, (None, None))[0]
        return info

    def _begin_to_count(
        self, storage: torch.UntypedStorage, device: torch.device, reftype: _RefType
    ) -> _WeakRefInfo:
        if not self._WINFO:
            tell_of_resizes(self)
        info, alive = _WeakRefInfo.create_winfo(storage, device, reftype, self._delete_callback)
        self._WINFO[storage] = info, alive
        if info.mem_consumed > 0:
            self._update_snap(_UpdateType.ADD, info)
        return info

    def _look_at_size(self, storage: torch.UntypedStorage) -> None:
        info = self._info_of(storage)
        if info is not None and info.size != storage.size():
            old = info.mem_consumed
            info.update_mem_consumed(storage)
            self._update_snap(_UpdateType.SIZE, info, old_mem_consumed=old)


def storages_of(tensor: torch.Tensor) -> set[torch.UntypedStorage]:
    return {part.untyped_storage() for part in parts_of(tensor)}
