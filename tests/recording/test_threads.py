"""Trackers start and stop while other threads train: neither disturbs the other."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.nn.modules.module import register_module_forward_hook
from torch.optim import optimizer as optimizers
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.checkpoint import checkpoint

import tidemark
from tidemark.compat import MemTracker
from tidemark.recording.hook_tables import GlobalHooks


class Threads:
    """Runs functions again and again until the block ends, and raises what they raised."""

    def __init__(self, *works: Callable[[], None]) -> None:
        self._stop = False
        self._errors: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(one,)) for one in works]

    def _run(self, work: Callable[[], None]) -> None:
        try:
            while not self._stop:
                work()
        except BaseException as error:
            self._errors.append(error)

    def __enter__(self) -> None:
        for one in self._threads:
            one.start()

    def __exit__(self, *_: Any) -> None:
        self._stop = True
        for one in self._threads:
            one.join()
        if self._errors:
            raise self._errors[0]


def training() -> Callable[[], None]:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(4)])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = torch.ones(2, 8, requires_grad=True)

    def train() -> None:
        loss = model(x).sum() + checkpoint(model, x, use_reentrant=False).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return train


@pytest.mark.parametrize("make", [tidemark.track, MemTracker])
def test_four_threads_train_while_two_trackers_start_and_stop(make: Any) -> None:
    torch.set_num_threads(1)
    errors: list[BaseException] = []

    def come_and_go() -> None:
        try:
            for _ in range(30):
                with make():
                    time.sleep(0.002)
        except BaseException as error:
            errors.append(error)

    comers = [threading.Thread(target=come_and_go) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads change at every chance
    try:
        with Threads(*[training() for _ in range(4)]):
            for one in comers:
                one.start()
            for one in comers:
                one.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors, errors[0]
    assert not modules._global_forward_hooks and not modules._global_forward_pre_hooks
    assert not optimizers._global_optimizer_pre_hooks
    assert "tidemark" not in getattr(torch.UntypedStorage.resize_, "__module__", "")


def test_a_tracker_that_is_entered_again_meets_modules_that_others_call() -> None:
    tracker = MemTracker()
    models = [nn.Linear(4, 4) for _ in range(50)]

    def call() -> None:
        models.append(nn.Linear(4, 4))
        models.pop(0)(torch.ones(4))

    with Threads(call, call):
        for _ in range(50):
            with tracker:
                time.sleep(0.001)


def test_the_end_of_one_tracker_leaves_the_leaf_hooks_of_others() -> None:
    model = nn.Linear(8, 8)
    x = torch.ones(2, 8, requires_grad=True)
    outer = MemTracker()
    with outer:
        with MemTracker():
            loss = model(x).sum()
        loss.backward()
    [stats] = [one for module, one in outer.memory_tracking.items() if module is model]
    states = {str(state.value): len(calls) for state, calls in stats.snapshots.items()}
    assert states["Post-Backward"] == 1


def test_hooks_of_others_can_be_taken_away_while_a_tracker_runs_and_after() -> None:
    calls: list[str] = []

    def hook(name: str) -> Any:
        return lambda *_: calls.append(name)

    model = nn.Linear(2, 2)
    before = register_module_forward_hook(hook("before"))
    with MemTracker():
        during = register_module_forward_hook(hook("during"))
        model(torch.ones(2))
        before.remove()
        model(torch.ones(2))
    model(torch.ones(2))
    during.remove()
    model(torch.ones(2))
    assert calls == ["before", "during", "during", "during"]
    assert not modules._global_forward_hooks


def test_a_table_that_somebody_has_imported_is_changed_all_the_same() -> None:
    alias = modules._global_forward_pre_hooks
    with MemTracker():
        assert len(alias) == 1 and alias is modules._global_forward_pre_hooks
    started = time.monotonic()
    for _ in range(20):
        with MemTracker():
            pass
    assert time.monotonic() - started < 2  # who stays is waited for once
    assert not alias


def test_a_tracker_may_end_inside_a_hook_of_an_optimizer() -> None:
    """PyTorch is walking over the very table that the tracker leaves."""
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    tracker = MemTracker()
    seen: list[str] = []

    def leave(*_: Any) -> None:
        seen.append("left")
        tracker.__exit__()

    handle = register_optimizer_step_pre_hook(leave)
    tracker.__enter__()
    last = GlobalHooks()
    last.before_step(lambda *_: seen.append("last"))
    model(torch.ones(2)).sum().backward()
    optimizer.step()
    handle.remove()
    last.remove()
    assert seen == ["left", "last"]
    optimizers._global_optimizer_pre_hooks.clear()
