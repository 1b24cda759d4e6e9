"""PyTorch's own callers of its trackers run on ours, and find the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
from caller_programs import PROGRAMS
from torch.distributed._tools import mem_tracker as theirs
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from tidemark.compat import mem_tracker as ours

HERE = Path(__file__).parent
CPU = torch.device("cpu")


@lru_cache
def found_on(whose: str) -> Any:
    paths = [path for path in sys.path if path]
    result = subprocess.run(
        [sys.executable, str(HERE / "caller_programs.py"), whose],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_caller_finds_the_same_on_ours(program: str) -> None:
    found = found_on("ours")[program]
    assert "raised" not in found, found["raised"]
    assert found == found_on("theirs")[program]


def trackers_of_big_and_small(base: Any) -> Any:
    """A subclass with kinds of its own, as PyTorch's FSDPMemTracker is one."""

    class Kind(base._RefType):
        BIG = "Big"
        SMALL = "Small"

    class State(base._State):
        PEAK = "Peak"

    class SizeTracker(base.MemTracker):
        def __init__(self) -> None:
            super().__init__()
            self._ref_class = Kind

        def __enter__(self) -> Any:
            self._track_resize()
            TorchDispatchMode.__enter__(self)
            return self

        def __exit__(self, *args: Any) -> None:
            self._restore_resize()
            TorchDispatchMode.__exit__(self, *args)

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            tree_map_only(torch.Tensor, lambda t: self._track(self.kind_of(t), t), result)
            self._update_peak_stats(State.PEAK)
            return result

        def kind_of(self, tensor: torch.Tensor) -> Any:
            return Kind.BIG if tensor.numel() > 100 else Kind.SMALL

    return SizeTracker, Kind


def moments_of(base: Any) -> list[Any]:
    make, kind = trackers_of_big_and_small(base)
    tracker, moments = make(), []

    def note() -> None:
        for which in ("current", "peak"):
            snapshot = tracker.get_tracker_snapshot(which)
            moments.append({str(device): {str(getattr(k, "value", k)): v for k, v in row.items()}
                            for device, row in snapshot.items()})

    known, unknown = torch.ones(50), torch.ones(2)
    with tracker:
        infos = tracker._update_and_maybe_create_winfos(known, kind.BIG)
        moments.append([(one.size, one.mem_consumed, one.reftype.value) for one in infos])
        note()
        small = torch.ones(3)
        big = torch.ones(1000)
        view = big[:2]
        note()
        tracker._update_and_maybe_create_winfos(known, kind.SMALL, update_existing=True)
        note()
        big.untyped_storage().resize_(0)
        note()
        big.untyped_storage().resize_(8000)
        small.add_(1)
        note()
        del big, view
        note()
        with pytest.raises(KeyError, match="No existing winfo found"):
            tracker._update_and_maybe_create_winfos(unknown, kind.BIG, True)
    del small
    note()
    return moments


def test_a_subclass_with_kinds_of_its_own_counts_as_on_pytorchs() -> None:
    found = moments_of(ours)
    assert found == moments_of(theirs)
    assert found[0] == [(200, 200, "Big")]
    assert found[-2:] == [
        {"cpu": {"Big": 0, "Small": 200, "Total": 200}},
        {"cpu": {"Big": 8000, "Small": 212, "Total": 8212}},
    ]


def test_optimizer_states_are_told_however_deep() -> None:
    make, kind = trackers_of_big_and_small(ours)
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter])
    optimizer.state[parameter] = {"now": torch.ones(2), "history": [torch.ones(4), torch.ones(8)]}
    tracker = make()
    tracker._track_optimizer_states(kind.BIG, optimizer)
    assert tracker.get_tracker_snapshot()[CPU]["Big"] == 4 * (2 + 4 + 8)


def test_d8_d9_all_storages_of_a_told_tensor_count() -> None:
    make, kind = trackers_of_big_and_small(ours)
    tracker = make()
    indices, values = torch.zeros(1, 2, dtype=torch.int64), torch.ones(2)
    tracker._update_and_maybe_create_winfos(indices, kind.SMALL)
    tracker._track(kind.BIG, torch.sparse_coo_tensor(indices, values, (4,)))
    assert tracker.get_tracker_snapshot()[CPU] == {"Big": 8, "Small": 16, "Total": 24}


def test_d7_a_told_tensor_without_memory_has_no_row() -> None:
    make, kind = trackers_of_big_and_small(ours)
    tracker, empty = make(), torch.empty(0)
    tracker._update_and_maybe_create_winfos(empty, kind.SMALL)
    tracker._update_and_maybe_create_winfos(empty, kind.BIG)
    assert tracker.get_tracker_snapshot() == {}


@pytest.mark.parametrize("base", [theirs, ours], ids=["theirs", "ours"])
def test_a_tensor_can_be_given_another_kind_by_hand(base: Any) -> None:
    tensor, unknown = torch.ones(10), torch.ones(2)
    tracker = base.MemTracker()
    with tracker:
        tracker._update_and_maybe_create_winfos(tensor, base._MemRefType.OTH)
        assert tracker.get_tracker_snapshot()[CPU]["Other"] == 40
        (info,) = tracker._update_and_maybe_create_winfos(tensor, base._MemRefType.TEMP, True)
        assert tracker.get_tracker_snapshot()[CPU]["Temp"] == info.mem_consumed == 40
        with pytest.raises(KeyError, match="No existing winfo found"):
            tracker._update_and_maybe_create_winfos(unknown, base._MemRefType.TEMP, True)


def test_d14_nested_trackers_of_any_kind_all_see_resizes() -> None:
    make, kind = trackers_of_big_and_small(ours)
    told, heard, tensor = make(), ours.MemTracker(), torch.ones(10)
    told._update_and_maybe_create_winfos(tensor, kind.SMALL)
    heard.track_external(tensor)
    original = torch.UntypedStorage.resize_
    with told, heard:
        tensor.untyped_storage().resize_(400)
    assert told.get_tracker_snapshot()[CPU]["Total"] == 400
    assert heard.get_tracker_snapshot()[CPU]["Total"] == 400
    assert torch.UntypedStorage.resize_ == original
