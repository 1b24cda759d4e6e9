"""Runs one program under PyTorch's FSDPMemTracker and under ours, and compares all they know."""

from __future__ import annotations

import gc
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from comparing import NothingMode, Rows, run_inside
from fsdp_programs import Program
from torch.distributed._tools import fsdp2_mem_tracker as theirs
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker as TorchFSDPMemTracker

from tidemark.compat import FSDPMemTracker

_HOLDS = "            mod_stat = self.memory_tracking[fsdp_mod]\n"


class MendedFSDPMemTracker(TorchFSDPMemTracker):
    """PyTorch's, but that it lets go of the gradient that its loop looked at last (D15)."""


def _mended() -> Any:
    source = inspect.getsource(TorchFSDPMemTracker._fsdp_param_group_post_backward)
    before, after = source.split(_HOLDS)
    space: dict[str, Any] = {}
    exec(textwrap.dedent(before + "            unsharded_grad = None\n" + _HOLDS + after),
         vars(theirs), space)
    return space["_fsdp_param_group_post_backward"]


MendedFSDPMemTracker._fsdp_param_group_post_backward = _mended()  # type: ignore[method-assign]


@dataclass
class Outcome:
    moments: dict[str, Rows]
    current: Rows
    peak: Rows
    modules: dict[str, list[tuple[str, list[Rows]]]]
    local_peaks: dict[str, dict[str, int]]


def plain(snapshot: Any) -> Rows:
    """A snapshot with plain keys. An optimizer's scratch is not its state (D13), so the two are
    compared as one number; of nothing there is no row (D7)."""
    rows = {}
    for device, row in snapshot.items():
        named = {str(getattr(key, "value", key)): value for key, value in row.items()}
        named["Temp + OptState"] = named.pop("Temp") + named.pop("OptState")
        if any(named.values()):
            rows[str(device)] = named
    return rows


def look(program: Program, tracker: Any) -> Outcome:
    stats = list(tracker.memory_tracking.values())
    return Outcome(
        {moment: plain(one) for moment, one in program.moments.items()},
        plain(tracker.get_tracker_snapshot("current")),
        plain(tracker.get_tracker_snapshot("peak")),
        {one.mod_fqn: [(state.value, [plain(call) for call in calls])
                       for state, calls in one.snapshots.items()] for one in stats},
        {one.mod_fqn: {str(device): count for device, count in one.local_peak.items() if count}
         for one in stats},
    )


def run_under(kind: Any, build: Callable[[], Program], *modes: Any) -> Outcome:
    gc.collect()
    torch.manual_seed(0)
    program = build()
    tracker = kind(program.model, program.optimizer)
    tracker.track_inputs(program.inputs)
    return run_inside(tracker, program, modes, look)


def run_both(build: Callable[[], Program]) -> tuple[Outcome, Outcome]:
    """Theirs without D15; ours under a mode that does nothing, since theirs is one (D23)."""
    return run_under(MendedFSDPMemTracker, build), run_under(FSDPMemTracker, build, NothingMode())
