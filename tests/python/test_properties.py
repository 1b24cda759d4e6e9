"""Random runs: the fast answers equal slow obvious ones, and every form of a tape is the same."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import tidemark
from tidemark import Category

DEVICES = ("cuda:0", "cpu")
ROUNDING = {"cuda:0": 512, "cpu": 1}

event = st.one_of(
    st.tuples(st.just("alloc"), st.sampled_from(DEVICES), st.integers(0, 1 << 40),
              st.sampled_from(list(Category))),
    st.tuples(st.just("free"), st.integers(0, 30)),
    st.tuples(st.just("relabel"), st.integers(0, 30), st.sampled_from(list(Category))),
    st.tuples(st.just("begin_step")),
    st.tuples(st.just("begin_scope"), st.sampled_from(["a", "a.b", "c", "name with blanks"])),
    st.tuples(st.just("end_scope"), st.sampled_from(["a", "a.b", "c"])),
    st.tuples(st.just("mark"), st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
)
runs = st.lists(event, max_size=40)


def write(builder: tidemark.TapeBuilder, run: list[tuple]) -> None:
    """Storages are named by their order; events about storages not yet born are left out."""
    born = 0
    for name, *operands in run:
        if name in ("free", "relabel") and operands[0] >= born:
            continue
        getattr(builder, name)(*operands)
        born += name == "alloc"


def slow_peaks(run: list[tuple]) -> dict[str, int]:
    """All live storages summed again after every event."""
    alive: dict[int, tuple[str, int]] = {}
    peaks = dict.fromkeys(DEVICES, 0)
    born = 0
    for name, *operands in run:
        if name == "alloc":
            device, size, _ = operands
            alive[born] = (device, -(-size // ROUNDING[device]) * ROUNDING[device])
            born += 1
        elif name == "free":
            alive.pop(operands[0], None)
        for device in DEVICES:
            total = sum(size for where, size in alive.values() if where == device)
            peaks[device] = max(peaks[device], total)
    return {device: peak for device, peak in peaks.items() if peak > 0}


@given(runs)
def test_the_peak_equals_the_slow_sum(run):
    builder = tidemark.TapeBuilder()
    write(builder, run)
    answer = builder.finish().peak()
    assert {peak.device: peak.allocated_bytes for peak in answer.devices} == slow_peaks(run)
    for peak in answer.devices:
        assert sum(peak.categories.values()) == peak.allocated_bytes


@given(runs)
def test_text_and_file_give_the_same_tape_back(run):
    builder = tidemark.TapeBuilder()
    write(builder, run)
    tape = builder.finish()
    assert tidemark.read_text(tape.to_text()).to_text() == tape.to_text()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.tape"
        tape.save(path)
        again = tidemark.open(path)
    for name, column in tape.events.columns.items():
        assert column.tolist() == again.events.columns[name].tolist(), name


@given(runs)
def test_live_answers_equal_those_of_the_tape(run):
    builder = tidemark.TapeBuilder()
    live = {
        "peak": tidemark.PeakAccumulator(builder),
        "scopes": tidemark.ScopesAccumulator(builder, per_call=True),
        "timeline": tidemark.TimelineAccumulator(builder),
        "lifetimes": tidemark.LifetimesAccumulator(builder),
        "leaks": tidemark.LeaksAccumulator(builder),
    }
    write(builder, run)
    answers = {name: accumulator.answer().to_dict() for name, accumulator in live.items()}
    tape = builder.finish()
    options = {"scopes": {"per_call": True}}
    for name, answer in answers.items():
        assert answer == getattr(tape, name)(**options.get(name, {})).to_dict(), name
