"""PyTorch's FSDPMemTracker and ours say the same, byte for byte, at every state of every module."""

from __future__ import annotations

import pytest
from fsdp_comparing import FSDPMemTracker, MendedFSDPMemTracker, Outcome, run_both, run_under
from fsdp_programs import PROGRAMS


def assert_same(theirs: Outcome, ours: Outcome) -> None:
    assert ours.moments == theirs.moments
    assert ours.modules.keys() == theirs.modules.keys()
    for module, states in theirs.modules.items():
        assert ours.modules[module] == states, module
    assert ours.local_peaks == theirs.local_peaks
    assert ours.peak == theirs.peak
    assert ours.current == theirs.current


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_trackers_agree(name: str) -> None:
    assert_same(*run_both(PROGRAMS[name]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_trackers_agree_on_the_program_as_it_runs_alone(name: str) -> None:
    assert_same(run_under(MendedFSDPMemTracker, PROGRAMS[name]),
                run_under(FSDPMemTracker, PROGRAMS[name]))
