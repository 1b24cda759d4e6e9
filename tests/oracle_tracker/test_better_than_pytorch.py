"""Where PyTorch's tracker is wrong or fails, ours is right: one test per defect, the oracle beside."""

from __future__ import annotations

import copy
import gc
import io
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from typing import Any

import pytest
import torch
from comparing import NothingMode
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker

from tidemark.compat.mem_tracker import MemTracker, _ModState

CPU = torch.device("cpu")


def tracked(*external: Any) -> MemTracker:
    tracker = MemTracker()
    tracker.track_external(*external)
    return tracker


def now(tracker: Any) -> dict[str, int]:
    return {str(getattr(k, "value", k)): v
            for k, v in tracker.get_tracker_snapshot().get(CPU, {}).items()}


def bytes_of(*tensors: torch.Tensor) -> int:
    return sum(t.untyped_storage().nbytes() for t in tensors)


def test_d6_tensors_nobody_registered_are_not_tracked_through_views() -> None:
    stranger = torch.randn(100)
    for make, expected in ((TorchMemTracker, 400), (MemTracker, 0)):
        tracker = make()
        with tracker:
            view = stranger.view(10, 10)
            assert now(tracker).get("Activation", 0) == expected
            del view


def test_d7_empty_storages_leave_no_row_of_zeros() -> None:
    class Empty(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.nothing = nn.Parameter(torch.empty(0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    model = Empty()
    with tracked(model) as tracker:
        tracker.track_external(model.nothing)
        model(torch.empty(0))
    assert tracker.get_tracker_snapshot() == {}


def test_d8_every_storage_of_a_tensor_counts() -> None:
    indices, values = torch.tensor([[0, 1, 2]]), torch.ones(3)
    sparse = torch.sparse_coo_tensor(indices, values, (10,), check_invariants=False)
    tracker = tracked(values)
    tracker.track_external(sparse)
    assert now(tracker)["Other"] == bytes_of(sparse._indices(), sparse._values())


def test_d9_sparse_gradients_are_gradients() -> None:
    model = nn.Embedding(100, 8, sparse=True)
    ids = torch.tensor([1, 5, 7])
    with pytest.raises(NotImplementedError), TorchMemTracker():
        model(ids).sum().backward()
    model.zero_grad()
    with tracked(model, ids) as tracker:
        model(ids).sum().backward()
        gradient = model.weight.grad
        assert gradient is not None and gradient.is_sparse
        assert now(tracker)["Gradient"] == bytes_of(gradient._indices(), gradient._values())
        assert now(tracker)["Other"] == bytes_of(ids)


def test_d10_a_resize_is_in_the_peak_at_once() -> None:
    held = torch.zeros(1000)
    for make, expected in ((TorchMemTracker, 4000), (MemTracker, 8000)):
        held.untyped_storage().resize_(4000)
        tracker = make()
        tracker.track_external(held)
        with tracker:
            held.untyped_storage().resize_(8000)
            peak = tracker.get_tracker_snapshot("peak")[CPU]["Total"]
        assert peak == expected


def test_d12_a_shared_storage_counts_once() -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            flat = torch.randn(300)
            self.a, self.b = nn.Parameter(flat[:100]), nn.Parameter(flat[100:])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.a.sum() * self.b.sum() * x

    for make, expected in ((TorchMemTracker, 2400), (MemTracker, 1200)):
        model = Shared()
        with make() as tracker:
            model(torch.ones(1))
        assert tracker.memory_tracking[model].parameter_mem == expected


def test_d13_scratch_of_an_optimizer_is_not_its_state() -> None:
    def peak_of(make: Any) -> tuple[dict[str, int], int]:
        torch.manual_seed(0)
        model = nn.Linear(64, 64)
        optimizer = torch.optim.Adam(model.parameters(), foreach=True)
        x = torch.randn(4, 64)
        tracker = make()
        tracker.track_external(model, optimizer, x)
        with tracker:
            model(x).sum().backward()
            optimizer.step()
        state = bytes_of(*(t for s in optimizer.state.values() for t in s.values()))
        return tracker.get_tracker_snapshot("peak")[CPU], state

    theirs, state = peak_of(TorchMemTracker)
    ours, same_state = peak_of(MemTracker)
    assert state == same_state
    assert theirs["Optstate"] > state
    assert ours["Optstate"] == state
    assert ours["Total"] == theirs["Total"]
    assert ours["Temp"] == theirs["Optstate"] + theirs["Temp"] - state


def test_d13_nested_optimizer_state_is_state() -> None:
    class Nested(torch.optim.SGD):
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["history"] = [{"old": p.detach().clone()}]

    model = nn.Linear(10, 10, bias=False)
    optimizer = Nested(model.parameters(), lr=0.1)
    with tracked(model, optimizer) as tracker:
        optimizer.step()
        assert now(tracker)["Optstate"] == 400


def test_d14_nested_trackers_both_see_resizes() -> None:
    held = torch.zeros(1000)
    outer, inner = tracked(held), tracked(held)
    with outer:
        with inner:
            held.untyped_storage().resize_(8000)
        held.untyped_storage().resize_(6000)
    assert now(outer)["Other"] == now(inner)["Other"] == 6000


def test_d23_the_program_runs_as_it_does_without_a_tracker() -> None:
    """Five users of one activation: autograd adds their gradients in place, unless a mode is on."""

    def peak_of(make: Any, *modes: Any) -> int:
        torch.manual_seed(0)
        x = torch.randn(256, 256, requires_grad=True)
        tracker = make()
        tracker.track_external(x)
        with tracker:
            for mode in modes:
                mode.__enter__()
            y = x * 2
            sum(y.detach() * i + y for i in range(5)).sum().backward()
            for mode in modes:
                mode.__exit__(None, None, None)
        return tracker.get_tracker_snapshot("peak")[CPU]["Total"]

    under_a_mode = peak_of(TorchMemTracker)
    assert peak_of(MemTracker, NothingMode()) == under_a_mode
    assert peak_of(MemTracker) <= under_a_mode


def test_d24_frozen_parameters_work_and_thaw() -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 16))
    model[0].requires_grad_(False)
    x = torch.randn(2, 16)
    with pytest.raises(RuntimeError, match="doesn't require gradient"), TorchMemTracker():
        model(x)
    with tracked(model, x) as tracker:
        model(x).sum().backward()
        assert now(tracker)["Gradient"] == bytes_of(*model[1].parameters())
        model.zero_grad()
        model[0].requires_grad_(True)
        model(x).sum().backward()
        assert now(tracker)["Gradient"] == bytes_of(*model.parameters())


def test_d24_packed_sequences_work() -> None:
    rnn = nn.GRU(8, 8)
    padded = torch.randn(5, 3, 8, requires_grad=True)
    packed = nn.utils.rnn.pack_padded_sequence(padded, torch.tensor([5, 3, 2]))
    with tracked(rnn, padded) as tracker:
        output, _ = rnn(packed)
        output.data.sum().backward()
        assert now(tracker)["Gradient"] == bytes_of(*rnn.parameters())
        assert set(tracker.memory_tracking[rnn].snapshots) >= {_ModState.PRE_BW, _ModState.POST_BW}


def test_d24_gradients_of_leaf_inputs_work() -> None:
    model, x = nn.Linear(8, 8), torch.randn(2, 8, requires_grad=True)
    with tracked(model, x) as tracker:
        for _ in range(2):
            (gradient,) = torch.autograd.grad(model(x).sum(), x)
            assert gradient.shape == x.shape
        assert len(tracker.memory_tracking[model].snapshots[_ModState.POST_BW]) == 2
    assert x._backward_hooks is None or len(x._backward_hooks) == 0


def test_parameters_of_lazy_modules_count_once_they_have_memory() -> None:
    model = nn.Sequential(nn.LazyLinear(20), nn.LazyBatchNorm1d())
    with pytest.raises(ValueError, match="uninitialized"), TorchMemTracker():
        model(torch.ones(2, 10))
    model, tracker = nn.Sequential(nn.LazyLinear(20), nn.LazyBatchNorm1d()), MemTracker()
    with tracker:
        model(torch.ones(2, 10)).sum().backward()
        parameters = bytes_of(*model.parameters())
        found = now(tracker)
    assert found["Parameter"] == found["Gradient"] == parameters == 4 * (20 * 10 + 3 * 20)
    assert found["Buffer"] == bytes_of(*model.buffers())


def test_d25_no_gradient_is_held_for_a_hook() -> None:
    class Two(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a.exp() * b.exp()

    def gradients_alive_at_the_end(make: Any) -> int:
        torch.manual_seed(0)
        a, b = torch.randn(512, requires_grad=True), torch.randn(512, requires_grad=True)
        model = Two()
        tracker = make()
        tracker.track_external(a, b)
        with tracker:
            model(a * 1, (b * 1).tanh()).sum().backward()
            [snapshot] = tracker.memory_tracking[model].snapshots[_ModState.POST_BW]
        return snapshot[CPU]["Total"]

    assert gradients_alive_at_the_end(MemTracker) <= gradients_alive_at_the_end(TorchMemTracker)


def test_d26_a_graph_dies_with_its_last_reference() -> None:
    gc.collect()
    gc.disable()
    try:
        model = nn.Sequential(*(nn.Linear(16, 16) for _ in range(6)))
        x = torch.randn(4, 16)
        with tracked(model, x) as tracker:
            loss = model(x).sum()
            assert now(tracker)["Activation"] > 0
            del loss
            assert now(tracker)["Activation"] == 0
    finally:
        gc.enable()


class Failing(nn.Module):
    """Fails where it is told to."""

    where = ""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        if self.where == "forward":
            raise ValueError("in forward")
        x = self.second(x)
        if self.where == "backward":
            x.register_hook(self.fail)
        return x

    def fail(self, gradient: torch.Tensor) -> None:
        raise ValueError("in backward")


class FailingOptimizer(torch.optim.SGD):
    fails = False

    def step(self, closure: Any = None) -> Any:
        if self.fails:
            raise ValueError("in step")
        return super().step()


@pytest.mark.parametrize("where", ["forward", "backward", "step"])
def test_d27_after_an_exception_the_tracker_is_right_again(where: str) -> None:
    def iteration(tracker: MemTracker) -> dict[str, Any]:
        tracker.reset_mod_stats()
        torch.manual_seed(1)
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        return {s.mod_fqn: s.snapshots for s in tracker.memory_tracking.values()}

    model, x = Failing(), torch.randn(4, 8)
    optimizer = FailingOptimizer(model.parameters(), lr=0.0)
    with tracked(model, optimizer, x) as tracker:
        iteration(tracker)
        before = iteration(tracker)
        Failing.where, FailingOptimizer.fails = where, where == "step"
        try:
            with pytest.raises(ValueError, match=f"in {where}"):
                iteration(tracker)
        finally:
            Failing.where, FailingOptimizer.fails = "", False
        optimizer.zero_grad()
        gc.collect()
        assert iteration(tracker) == before
        kept = torch.ones(25) * 2
        assert now(tracker)["Activation"] == bytes_of(kept)
        assert tracker._mod_tracker.parents == {"Global"}


def test_a_second_iteration_needs_no_reset() -> None:
    model, x = nn.Linear(8, 8), torch.randn(2, 8)
    with tracked(model, x) as tracker:
        for _ in range(3):
            model(x).sum().backward()
        assert all(len(c) == 3 for c in tracker.memory_tracking[model].snapshots.values())


def test_frees_are_seen_after_the_context_was_left() -> None:
    with MemTracker() as tracker:
        made = torch.zeros(100)
    assert now(tracker) != {}
    del made
    assert now(tracker) == {}


def test_displays_look_like_pytorchs() -> None:
    def printed(make: Any) -> str:
        torch.manual_seed(0)
        model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.randn(2, 8)
        tracker = make()
        tracker.track_external(model, x)
        out = io.StringIO()
        with tracker, redirect_stdout(out):
            model(x).sum().backward()
            for units in ("B", "KiB", "MiB", "GiB"):
                tracker.display_snapshot("current", units)
                tracker.display_snapshot("peak", units=units)
                tracker.display_modulewise_snapshots(depth=2, units=units)
        return out.getvalue()

    assert printed(MemTracker) == printed(TorchMemTracker)
    with redirect_stdout(out := io.StringIO()):
        MemTracker().display_snapshot()
    assert out.getvalue() == "No memory tracked.\n"


def test_wrong_arguments_are_refused_as_pytorch_does() -> None:
    for make in (TorchMemTracker, MemTracker):
        with pytest.raises(ValueError, match="Invalid type sometimes"):
            make().get_tracker_snapshot("sometimes")
        with pytest.raises(TypeError, match="str"):
            make().track_external("text")
        make().track_external(None, [None, {"a": torch.ones(1)}])


def test_statistics_can_be_copied_and_stay_what_they_were() -> None:
    model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.randn(2, 8)
    with tracked(model, x) as tracker:
        model(x).sum().backward()
        copied = dict(copy.deepcopy(tracker.memory_tracking).items())[model]
        before = tracker.memory_tracking[model].snapshots
        model(x).sum().backward()
    assert copied.parameter_mem == bytes_of(*model.parameters())
    assert copied.snapshots == before != tracker.memory_tracking[model].snapshots


def test_a_resize_counts_once_in_the_first_tracker_of_a_process() -> None:
    """Its storages were made known before anything listened to the allocator."""
    code = """
import torch
from tidemark.compat.mem_tracker import MemTracker
tensor, tracker = torch.ones(10), MemTracker()
tracker.track_external(tensor)
with tracker:
    tensor.untyped_storage().resize_(80)
print(tracker.get_tracker_snapshot()[torch.device("cpu")]["Total"])
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                            env=environment)
    assert result.stdout == "80\n", result.stderr


def test_the_attribution_of_a_training_step() -> None:
    """Parameters, gradients and optimizer state at four moments, against the true sums."""
    torch.manual_seed(0)
    model = nn.Sequential(*(
        layer for _ in range(3)
        for layer in (nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 128), nn.GELU())
    ))
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    x = torch.randn(16, 128)

    def check(tracker: MemTracker) -> None:
        state = [t for s in optimizer.state.values() for t in s.values()]
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        row = now(tracker)
        assert row["Parameter"] == bytes_of(*model.parameters())
        assert row["Gradient"] == bytes_of(*gradients)
        assert row["Optstate"] == bytes_of(*state)

    with tracked(model, optimizer, x) as tracker:
        for _ in range(2):
            check(tracker)
            model(x).sum().backward()
            check(tracker)
            optimizer.step()
            check(tracker)
            optimizer.zero_grad()
            check(tracker)


def test_nothing_is_said_on_the_way() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.randn(2, 8)
        with tracked(model, x):
            model(x).sum().backward()
