"""PyTorch's MemTracker and ours say the same, byte for byte, on programs without its defects."""

from __future__ import annotations

import pytest
from comparing import Outcome, Recorded, run_both, run_both_fake, run_fake, run_under
from programs import PROGRAMS
from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker

from tidemark.compat.mem_tracker import MemTracker

# Attention gets one tensor three times, and PyTorch's tracker counts it three times (D12).
COUNTED_REPEATEDLY = {
    (name, f"TransformerEncoder.layers.{layer}.self_attn")
    for name in ("transformer_layers", "transformer_with_dropout")
    for layer in range(3)
}

NOT_FAKE = {
    "storage_resizes",  # fake tensors have no memory to resize
    # PyTorch itself cannot copy or move fake parameters there.
    "transformer_layers", "transformer_with_dropout", "cpu_and_meta", "meta_device",
}


def assert_same(name: str, theirs: Outcome, ours: Outcome) -> None:
    assert ours.moments == theirs.moments
    assert ours.current == theirs.current
    assert ours.peak == theirs.peak
    assert ours.modules.keys() == theirs.modules.keys()
    for module, states in theirs.modules.items():
        assert ours.modules[module] == states, module
    for module, sizes in theirs.bytes.items():
        if (name, module) not in COUNTED_REPEATEDLY:
            assert ours.bytes[module] == sizes, module


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_trackers_agree(name: str) -> None:
    assert_same(name, *run_both(PROGRAMS[name]))


# While a mode is on, autograd takes other ways (D23), and PyTorch's tracker is one. Of these
# programs only this one shows it.
DIFFERENT_WITHOUT_MODES = {"transformer_layers"}


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - DIFFERENT_WITHOUT_MODES))
def test_both_trackers_agree_on_the_program_as_it_runs_alone(name: str) -> None:
    theirs = run_under(TorchMemTracker, PROGRAMS[name])
    assert_same(name, theirs, run_under(MemTracker, PROGRAMS[name]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_to_follow_operators_agree(name: str) -> None:
    by_records = run_under(MemTracker, PROGRAMS[name], Recorded())
    assert_same(name, by_records, run_under(MemTracker, PROGRAMS[name]))


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - NOT_FAKE))
def test_both_trackers_agree_on_fake_tensors(name: str) -> None:
    assert_same(name, *run_both_fake(PROGRAMS[name]))


def test_a_fake_tensor_returned_twice_is_two_when_its_operator_was_seen_before() -> None:
    """An LSTM's backward returns one gradient for both biases: 4 gates of 16 floats, 256 bytes.
    From its cache of operators FakeTensorMode gives two, whoever watches."""
    build = PROGRAMS["recurrent_net"]
    fresh, _ = run_both_fake(build)
    assert_same("recurrent_net", run_fake(TorchMemTracker, build), seen := run_fake(MemTracker, build))
    assert seen.peak["cpu"]["Total"] == fresh.peak["cpu"]["Total"] + 4 * 16 * 4
