"""A tracker starts whole or not at all, and wakes nothing up."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

import tidemark
from tidemark.compat import MemTracker
from tidemark.recording import gpu_births
from tidemark.recording.hook_tables import GlobalHooks
from tidemark.recording.made_storages import MadeStorages
from tidemark.recording.resizes import ResizeFollower

TABLES = [(modules, "_global_forward_pre_hooks"), (modules, "_global_forward_hooks"),
          (modules, "_global_forward_hooks_always_called"),
          (optimizers, "_global_optimizer_pre_hooks"),
          (optimizers, "_global_optimizer_post_hooks")]


def left_behind() -> list[str]:
    found = [name for module, name in TABLES if getattr(module, name)]
    replaced = (torch.UntypedStorage.resize_, torch.UntypedStorage.__init__)
    return found + [one.__qualname__ for one in replaced if "tidemark" in getattr(one, "__module__", "")]


@pytest.mark.parametrize("make", [tidemark.track, MemTracker])
@pytest.mark.parametrize(("owner", "part"), [
    (GlobalHooks, "before_forward"), (GlobalHooks, "after_forward"), (GlobalHooks, "before_step"),
    (GlobalHooks, "after_step"), (ResizeFollower, "start"), (MadeStorages, "start")])
def test_a_start_that_fails_leaves_nothing_behind(make: Any, owner: Any, part: str,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("as asked")

    tracker = make()
    with monkeypatch.context() as patch:
        patch.setattr(owner, part, fail)
        with pytest.raises(MemoryError, match="as asked"):
            tracker.__enter__()
    assert left_behind() == []
    assert not tracker._tracker.is_running
    model = nn.Linear(8, 8)
    with tracker:  # and it can be entered as if nothing had been
        model(torch.ones(8)).sum().backward()
    assert left_behind() == []
    assert tracker._tracker.peak()[0][1][0] == (8 * 8 + 8) * 4


def test_an_allocator_that_does_not_tell_is_said_and_the_program_runs(
        monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> bool:
        raise RuntimeError("cudaMallocAsync does not yet support attachAllocatorTraceTracker\nmore")

    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(gpu_births, "_is_queued", False)
    monkeypatch.setattr(gpu_births._recorder, "attach_cuda_trace", refuse)
    queued: list[Any] = []
    monkeypatch.setattr(torch.cuda, "_lazy_call", queued.append)
    model = nn.Linear(8, 8)
    with tidemark.track(model) as tracking:
        [attach] = queued
        with pytest.warns(RuntimeWarning, match="GPU memory is counted only where.*cudaMallocAsync"):
            attach()  # as the program's first use of a GPU does
        model(torch.ones(8)).sum().backward()
        monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    codes = {one.code: one.message for one in tracking.tape.diagnostics}
    assert "cudaMallocAsync" in codes["gpu-births-unheard"]
    assert tracking.tape.meta["used.gpu"] == "yes"
    assert tracking.overview().verdict is None  # of memory that was not counted


def test_trackers_ask_the_program_only_once_for_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[Any] = []
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(gpu_births, "_is_queued", False)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "_lazy_call", queued.append)
    for _ in range(5):
        with MemTracker():
            pass
    assert len(queued) == 1


def test_tracking_asks_cuda_nothing_before_the_program_does() -> None:
    """Each of these questions makes a later fork a bad one."""
    program = """
import torch, tidemark
from tidemark.compat import MemTracker
def refuse(*_): raise AssertionError("CUDA was asked")
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
torch.cuda.is_available = torch.cuda.device_count = torch.cuda.init = refuse
torch._C._cuda_getDeviceCount = refuse
torch.backends.cuda.is_built = lambda: True
for tracker in (tidemark.track(model), MemTracker()):
    with tracker:
        model(torch.ones(8)).sum().backward()
        optimizer.step()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
