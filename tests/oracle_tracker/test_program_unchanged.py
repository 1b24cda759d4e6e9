"""The program that is tracked is the program that runs: same numbers, same lives, same globals."""

from __future__ import annotations

import threading
import warnings
import weakref
from typing import Any

import pytest
import torch
from programs import PROGRAMS
from torch import nn
from torch.nn.modules import module as module_file
from torch.optim import optimizer as optimizer_file
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
from torch.utils.checkpoint import checkpoint

from tidemark.compat.mem_tracker import MemTracker


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten())
        self.drop, self.head = nn.Dropout(0.3), nn.Linear(8 * 36, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.drop(checkpoint(self.body, x, use_reentrant=False)))


def train(tracker: Any = None, steps: int = 4) -> tuple[list[bytes], list[bytes]]:
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    if tracker is not None:
        tracker.track_external(model, optimizer)
        tracker.__enter__()
    losses = []
    for _ in range(steps):
        x = torch.randn(4, 3, 8, 8)
        loss = nn.functional.cross_entropy(model(x), torch.randint(5, (4,)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach().numpy().tobytes())
    if tracker is not None:
        tracker.__exit__(None, None, None)
    return losses, [p.detach().numpy().tobytes() for p in model.parameters()]


def test_losses_and_parameters_are_the_same_bit_for_bit() -> None:
    assert train(MemTracker()) == train()


def global_state() -> dict[str, Any]:
    return {
        "hooks": [dict(getattr(module_file, name)) for name in vars(module_file)
                  if name.startswith("_global_") and "hooks" in name
                  and isinstance(getattr(module_file, name), dict)],
        "optimizers": [dict(optimizer_file._global_optimizer_pre_hooks),
                       dict(optimizer_file._global_optimizer_post_hooks)],
        "formatwarning": warnings.formatwarning,
        "resize_": vars(torch.UntypedStorage).get("resize_"),
        "modes": list(_get_current_dispatch_mode_stack()),
        "grad": torch.is_grad_enabled(),
        "excluded": str(torch._C._dispatch_tls_local_exclude_set()),
        "included": str(torch._C._dispatch_tls_local_include_set()),
    }


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt, SystemExit])
def test_globals_are_as_before(error: type[BaseException] | None) -> None:
    class Stops(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if error is not None:
                raise error
            return x

    model = nn.Sequential(nn.Linear(4, 4), Stops())
    x = torch.randn(2, 4, requires_grad=True)
    before = global_state()
    try:
        with MemTracker() as tracker:
            tracker.track_external(model)
            assert global_state() != before
            model(x).sum().backward()
    except BaseException as caught:
        assert error is not None and isinstance(caught, error)
    assert global_state() == before
    for tensor in (x, *model.parameters()):
        assert not tensor._backward_hooks
        assert not tensor._post_accumulate_grad_hooks


def test_after_an_interrupt_the_tracker_goes_on() -> None:
    interrupted = [True]

    class Interrupted(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if interrupted:
                interrupted.clear()
                raise KeyboardInterrupt
            return x * 2

    model = nn.Sequential(nn.Linear(4, 4), Interrupted())
    x = torch.randn(2, 4)
    with MemTracker() as tracker:
        tracker.track_external(model, x)
        with pytest.raises(KeyboardInterrupt):
            model(x)
        tracker.reset_mod_stats()
        model(x).sum().backward()
        names = {s.mod_fqn: s.snapshots for s in tracker.memory_tracking.values()}
        assert all(len(calls) == 1 for states in names.values() for calls in states.values())
    assert tracker._mod_tracker.parents == {"Global"}


def test_no_tensor_outlives_its_time() -> None:
    model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), torch.randn(2, 8)
    seen: list[Any] = []

    def remember(module: nn.Module, inputs: Any, output: torch.Tensor) -> None:
        seen.append(weakref.ref(output))

    for layer in model:
        layer.register_forward_hook(remember)
    with MemTracker() as tracker:
        tracker.track_external(model, x)
        model(x).sum().backward()
        assert [ref() for ref in seen] == [None] * 3
        gradients = [weakref.ref(p.grad) for p in model.parameters()]
        model.zero_grad()
        assert [ref() for ref in gradients] == [None] * 4
    parameters = [weakref.ref(p) for p in model.parameters()]
    del model, layer
    assert [ref() for ref in parameters] == [None] * 4


def test_models_die_inside_the_context() -> None:
    with MemTracker() as tracker:
        model = nn.Linear(16, 16)
        model(torch.randn(2, 16)).sum().backward()
        alive = weakref.ref(model.weight)
        del model
        assert alive() is None
        assert tracker.get_tracker_snapshot() == {}
        assert len(tracker.memory_tracking) == 0


def test_user_hooks_on_leaves_and_parameters_run_beside_ours() -> None:
    calls: list[str] = []
    model, x = nn.Linear(4, 4), torch.randn(2, 4, requires_grad=True)
    x.register_hook(lambda g: calls.append("leaf"))
    model.weight.register_hook(lambda g: calls.append("weight"))
    model.weight.register_post_accumulate_grad_hook(lambda p: calls.append("accumulated"))
    with MemTracker() as tracker:
        tracker.track_external(model, x)
        model(x).sum().backward()
        x.register_hook(lambda g: calls.append("later"))
        model(x).sum().backward()
    model(x).sum().backward()
    assert sorted(calls) == sorted(
        ["leaf", "weight", "accumulated"] * 3 + ["later"] * 2
    )


def test_two_models_in_two_threads() -> None:
    results: dict[int, dict[str, int]] = {}
    with MemTracker() as tracker:

        def work(number: int) -> None:
            torch.manual_seed(number)
            model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32))
            optimizer = torch.optim.Adam(model.parameters())
            for _ in range(10):
                model(torch.randn(8, 32)).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
            stats = tracker.memory_tracking[model]
            results[number] = {state.value: len(c) for state, c in stats.snapshots.items()}

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [set(counts.values()) for counts in results.values()] == [{10}, {10}]
    assert tracker.get_tracker_snapshot() == {}


def test_backward_in_another_thread() -> None:
    model, x = nn.Linear(16, 16), torch.randn(4, 16)
    with MemTracker() as tracker:
        tracker.track_external(model, x)
        loss = model(x).sum()
        thread = threading.Thread(target=loss.backward)
        thread.start()
        thread.join()
        row = tracker.get_tracker_snapshot()[torch.device("cpu")]
        assert row["Gradient"] == 16 * 16 * 4 + 16 * 4
        assert len(tracker.memory_tracking[model].snapshots) == 6


class Numbers(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((8,), float(index)) * 2


def test_workers_of_a_loader_are_left_alone() -> None:
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=2)
    model = nn.Linear(8, 8)
    with MemTracker() as tracker:
        tracker.track_external(model)
        total = sum(float(batch.sum()) for batch in loader)
        for batch in loader:
            model(batch).sum().backward()
    assert total == 2 * 8 * sum(range(16))
    assert tracker.get_tracker_snapshot()[torch.device("cpu")]["Parameter"] == 288


def test_starting_and_stopping_at_any_time() -> None:
    tracker = MemTracker()
    model, x = nn.Linear(8, 8), torch.randn(2, 8)
    tracker.track_external(model, x)
    with tracker:
        loss = model(x).sum()
    loss.backward()
    with tracker, tracker:
        model(x).sum().backward()
    assert tracker.get_tracker_snapshot()[torch.device("cpu")]["Gradient"] == 288


@pytest.mark.parametrize("name", ["perceptron", "checkpointed_nested", "recurrent_net"])
def test_a_tracked_program_computes_the_same(name: str) -> None:
    def gradients(tracker: Any) -> list[bytes]:
        torch.manual_seed(0)
        program = PROGRAMS[name]()
        program.external[1] = None
        with tracker:
            program.run(tracker)
        return [p.grad.numpy().tobytes() for p in program.external[0].parameters()
                if p.grad is not None]

    class Nobody:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: Any) -> None: ...
        def reset_mod_stats(self) -> None: ...
        def get_tracker_snapshot(self, type: str) -> dict[str, int]:
            return {}

    assert gradients(MemTracker()) == gradients(Nobody())
