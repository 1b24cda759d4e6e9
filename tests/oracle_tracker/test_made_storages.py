"""Storages that no operator makes: copies, unpickled tensors, files; PyTorch's tracker beside ours."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker

import tidemark
from tidemark.compat.mem_tracker import MemTracker, _ModState

CPU = torch.device("cpu")


def total(tracker: Any) -> int:
    return int(tracker.get_tracker_snapshot().get(CPU, {}).get("Total", 0))


def saved(tensor: torch.Tensor, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(tensor, file, **options)
    file.seek(0)
    return file


ONES = torch.ones(1000)
ZIP = saved(ONES).getvalue()
LEGACY = saved(ONES, _use_new_zipfile_serialization=False).getvalue()
PICKLED = pickle.dumps(ONES)
WAYS: dict[str, Callable[[], torch.Tensor]] = {
    "a deep copy": lambda: copy.deepcopy(ONES),
    "a file": lambda: torch.load(io.BytesIO(ZIP)),
    "a file of old": lambda: torch.load(io.BytesIO(LEGACY), weights_only=False),
    "a pickle": lambda: pickle.loads(PICKLED),
    "a storage": lambda: torch.tensor([], dtype=torch.float32).set_(torch.UntypedStorage(4000)),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_the_program_makes_itself_counts_as_in_pytorchs_tracker(way: str) -> None:
    """4000 bytes of the ones, 4000 of what is made of them, and 4000 of the sum that is kept."""
    for make in (TorchMemTracker, MemTracker):
        tracker = make()
        tracker.track_external(ONES)
        with tracker:
            made = WAYS[way]()
            seen = total(tracker)
            kept = made.view(10, 100).add_(1) + 1
            assert (seen, total(tracker)) == (8000, 12_000), make
            del made, kept
            assert total(tracker) == 4000, make


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operators", [False, True])
def test_the_tape_has_it_too_from_birth_to_death(way: str, operators: bool) -> None:
    with tidemark.track(operators=operators) as tracking:
        made = WAYS[way]()
        assert tracking.current["cpu"]["total"] == 4000
        del made
        assert tracking.current.get("cpu", {}).get("total", 0) == 0
    assert tracking.peak["cpu"]["total"] >= 4000
    assert not list(tidemark.verify(tracking.tape))
    births = [e for e in tracking.tape.events if e.kind.name == "Alloc" and e.bytes == 4000]
    assert len(births) == 1


def test_storages_are_made_as_before_when_no_tracker_runs() -> None:
    def methods() -> tuple[Any, ...]:
        return (torch.UntypedStorage.__init__, torch.UntypedStorage.resize_,
                torch._C.PyTorchFileReader.get_storage_from_record)

    before = methods()
    with MemTracker():
        assert methods() != before
    assert methods() == before


def test_a_modules_own_bytes_are_those_of_its_first_call_as_in_pytorchs_tracker() -> None:
    """8 * 8 weights and 8 biases; 8 running means and variances and a counter of 8 bytes."""
    for make in (TorchMemTracker, MemTracker):
        model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
        with make() as tracker:
            model(torch.randn(4, 8))
            stats = {one.mod_fqn: one for one in tracker.memory_tracking.values()}
            model.double()
            assert stats["Sequential.0"].parameter_mem == (8 * 8 + 8) * 4, make
            assert stats["Sequential.1"].buffer_mem == 8 * 4 * 2 + 8, make
            del model
            assert stats["Sequential.0"].parameter_mem == (8 * 8 + 8) * 4, make


def test_a_second_backward_through_a_kept_graph_ends_its_modules_too() -> None:
    """Another forward on the same leaf in between does not take its hook away."""
    counts = []
    for make in (TorchMemTracker, MemTracker):
        model, other = nn.Linear(8, 8), nn.Linear(8, 8)
        x = torch.randn(4, 8, requires_grad=True)
        with make() as tracker:
            loss = model(x).sum()
            loss.backward(retain_graph=True)
            other(x)
            loss.backward()
            first = next(one for module, one in tracker.memory_tracking.items() if module is model)
            counts.append({str(state.value): len(calls) for state, calls in first.snapshots.items()})
    assert counts[0] == counts[1]
    assert counts[1][_ModState.POST_BW.value] == 2


def test_hooks_on_a_leaf_are_those_of_graphs_that_still_live() -> None:
    model = nn.Linear(8, 8)
    x = torch.randn(4, 8, requires_grad=True)
    with MemTracker():
        for _ in range(10):
            model(x).sum().backward()
        assert len(x._backward_hooks or {}) <= 2
    assert not x._backward_hooks
