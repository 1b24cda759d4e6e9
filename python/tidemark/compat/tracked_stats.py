"""What PyTorch's trackers keep of a module, read from ours when somebody looks."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.compat.storage_info import _TOTAL_KEY, Snapshot, _RefType, _State


def snapshot_of(rows: list[tuple[str, list[int]]], kinds: type[_RefType]) -> Snapshot:
    """Rows of a tracker under PyTorch's keys."""
    keys = (*kinds, _TOTAL_KEY)
    return {torch.device(device): dict(zip(keys, numbers, strict=True)) for device, numbers in rows}


class TrackedStats:
    """Snapshots by state, one per call; a copy of it is of the class that it stands before."""

    _kinds: type[_RefType]
    _states: type[_State]
    _copied: tuple[str, ...] = ("local_peak", "snapshots")
    mod_fqn: str

    def __init__(self, mod_fqn: str, tracker: Any, number: int) -> None:
        self.mod_fqn = mod_fqn
        self._tracker = tracker
        self._number = number

    @property
    def local_peak(self) -> dict[torch.device, int]:
        rows = self._tracker.local_peak(self._number)
        return {torch.device(device): numbers[-1] for device, numbers in rows}

    @property
    def snapshots(self) -> dict[_State, list[Snapshot]]:
        return {
            self._states(state): [snapshot_of(rows, self._kinds) for rows in calls]
            for state, calls in self._tracker.stats(self._number)
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        plain: Any = type(self).__mro__[2]
        copy = plain(self.mod_fqn)
        for name in self._copied:
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy
