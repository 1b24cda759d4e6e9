"""PyTorch's MemTracker and ours say the same, byte for byte, on programs without its defects."""

from __future__ import annotations

import pytest
from comparing import run_both
from programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_trackers_agree(name: str) -> None:
    theirs, ours = run_both(PROGRAMS[name])
    assert ours.moments == theirs.moments
    assert ours.current == theirs.current
    assert ours.peak == theirs.peak
    assert ours.modules.keys() == theirs.modules.keys()
    for module, states in theirs.modules.items():
        assert ours.modules[module] == states, module
    assert ours.bytes == theirs.bytes
