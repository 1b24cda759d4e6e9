"""Accumulators follow a run and answer as the finished tape does."""

import gc

import pytest

import tidemark

ACCUMULATORS = {
    "peak": tidemark.PeakAccumulator,
    "scopes": tidemark.ScopesAccumulator,
    "timeline": tidemark.TimelineAccumulator,
    "lifetimes": tidemark.LifetimesAccumulator,
    "leaks": tidemark.LeaksAccumulator,
}


def train(builder: tidemark.TapeBuilder, steps: int = 4) -> None:
    weight = builder.alloc("cuda:0", 4096, "Parameter", scope="layer")
    for _ in range(steps):
        builder.begin_step()
        builder.set_phase("forward")
        with builder.region("layer"):
            builder.input(weight)
            activation = builder.alloc("cuda:0", 9000, "Activation", op="aten::relu")
        builder.set_phase("backward")
        builder.alloc("cpu", 100, "Other", source=("log.py", 3))
        builder.free(activation)


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_a_live_answer_is_the_answer_of_the_tape(name):
    builder = tidemark.TapeBuilder()
    accumulator = ACCUMULATORS[name](builder)
    train(builder)
    live = accumulator.answer().to_dict()
    tape = builder.finish()
    assert live == getattr(tape, name)().to_dict()
    assert accumulator.answer().to_dict() == live


def test_the_answer_grows_with_the_run():
    builder = tidemark.TapeBuilder()
    peak = tidemark.PeakAccumulator(builder, top=1, device="cpu")
    builder.alloc("cpu", 10)
    assert peak.answer().devices[0].allocated_bytes == 10
    builder.alloc("cpu", 5)
    assert peak.answer().devices[0].allocated_bytes == 15
    assert len(peak.answer().devices[0].largest) == 1


def test_an_accumulator_must_see_the_first_event():
    builder = tidemark.TapeBuilder()
    builder.begin_step()
    with pytest.raises(tidemark.Error, match="would miss") as caught:
        tidemark.PeakAccumulator(builder)
    assert "before the first event" in caught.value.hint


def test_an_accumulator_that_nobody_holds_is_forgotten():
    builder = tidemark.TapeBuilder()
    peak = tidemark.PeakAccumulator(builder)
    del peak
    gc.collect()
    train(builder)
    assert builder.finish().peak().devices[0].device == "cuda:0"


def test_an_accumulator_outlives_the_name_of_its_builder():
    builder = tidemark.TapeBuilder()
    scopes = tidemark.ScopesAccumulator(builder, per_call=True)
    train(builder, steps=2)
    del builder
    gc.collect()
    (layer,) = scopes.answer().scopes
    assert (layer.path, len(layer.calls)) == ("layer", 2)


def test_the_next_tape_needs_its_own_accumulator():
    builder = tidemark.TapeBuilder()
    first = tidemark.PeakAccumulator(builder)
    builder.alloc("cpu", 10)
    builder.finish()
    second = tidemark.PeakAccumulator(builder)
    builder.alloc("cpu", 99)
    assert first.answer().devices[0].allocated_bytes == 10
    assert second.answer().devices[0].allocated_bytes == 99


def test_options_are_checked_when_the_accumulator_is_made():
    builder = tidemark.TapeBuilder()
    with pytest.raises(tidemark.Error, match="top must be at least 0"):
        tidemark.PeakAccumulator(builder, top=-1)
    with pytest.raises(tidemark.Error, match="unknown axis"):
        tidemark.TimelineAccumulator(builder, by="bytes")
