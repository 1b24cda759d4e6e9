"""Runs one program under PyTorch's tracker and under ours, and compares all they know."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from programs import Program
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker
from torch.utils._python_dispatch import TorchDispatchMode

from tidemark.compat.mem_tracker import MemTracker

Rows = dict[str, dict[str, int]]


class NothingMode(TorchDispatchMode):
    """Changes nothing itself; but autograd takes other ways while any mode is on (D23)."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Recorded:
    """From here on, our tracker follows operators by PyTorch's records and not by the state of
    dispatch: in inference mode that says too little."""

    def __enter__(self) -> None:
        with torch.inference_mode():
            torch.empty(1, device="meta")

    def __exit__(self, *exception: object) -> None:
        pass


@dataclass
class Outcome:
    moments: dict[str, Rows]
    current: Rows
    peak: Rows
    modules: dict[str, dict[str, list[Rows]]]
    bytes: dict[str, tuple[Any, ...]]


def plain(snapshot: Any) -> Rows:
    """A snapshot with plain keys. A row of zeros says nothing (D7); an optimizer's scratch is not
    its state (D13), so the two are compared as one number, and apart in a test of their own."""
    rows = {}
    for device, row in snapshot.items():
        named = {str(getattr(key, "value", key)): value for key, value in row.items()}
        named["Temp + Optstate"] = named.pop("Temp") + named.pop("Optstate")
        if any(named.values()):
            rows[str(device)] = named
    return rows


def look(program: Program, tracker: Any) -> Outcome:
    modules, sizes = {}, {}
    for stats in tracker.memory_tracking.values():
        modules[stats.mod_fqn] = {
            state.value: [plain(call) for call in calls] for state, calls in stats.snapshots.items()
        }
        sizes[stats.mod_fqn] = tuple(
            getattr(stats, name, None)
            for name in ("parameter_mem", "buffer_mem", "input_mem", "output_mem")
        )
    return Outcome(
        {moment: plain(one) for moment, one in program.moments.items()},
        plain(tracker.get_tracker_snapshot("current")),
        plain(tracker.get_tracker_snapshot("peak")),
        modules,
        sizes,
    )


def run_inside(tracker: Any, program: Any, modes: Sequence[Any], look: Callable[[Any, Any], Any]) -> Any:
    """Runs the program under the tracker, with the modes inside of it; what `look` sees at its end."""
    with tracker:
        for mode in modes:
            mode.__enter__()
        try:
            program.run(tracker)
        finally:
            for mode in reversed(modes):
                mode.__exit__(None, None, None)
        return look(program, tracker)


def run_under(make_tracker: Callable[[], Any], build: Callable[[], Program], *modes: Any) -> Outcome:
    gc.collect()
    torch.manual_seed(0)
    program = build()
    tracker = make_tracker()
    tracker.track_external(*program.external)
    return run_inside(tracker, program, modes, look)


def run_both(build: Callable[[], Program]) -> tuple[Outcome, Outcome]:
    theirs = run_under(TorchMemTracker, build)
    ours = run_under(MemTracker, build, NothingMode())
    return theirs, ours


def run_fake(make_tracker: Callable[[], Any], build: Callable[[], Program]) -> Outcome:
    """On fake tensors; FakeTensorMode is a mode itself, so no other is needed."""
    with FakeTensorMode():
        return run_under(make_tracker, build)


def run_both_fake(build: Callable[[], Program]) -> tuple[Outcome, Outcome]:
    """Each with an empty cache of operators: a tensor that one returns twice is two from there."""
    FakeTensorMode.cache_clear()
    theirs = run_fake(TorchMemTracker, build)
    FakeTensorMode.cache_clear()
    return theirs, run_fake(MemTracker, build)
