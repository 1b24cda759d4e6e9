"""Answers and their parts travel: pickled, copied and compared, whatever they hold."""

import copy
import enum
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from test_properties import runs, write

import tidemark
from tidemark import _engine, graphs

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "transformer.tape.txt"
GPU = tidemark.GpuFacts("small", 1 << 24, "9.0")

# What the example lacks: odd data, a leak, a run that ended badly, bytes that are no UTF-8.
ODD = """\
tape 1
meta run.kind record
meta run.ended out-of-memory
meta run.failure "no room: \\xff"
meta run.steps 3
meta run.wall_seconds 0.1
meta used.matmul yes
meta gpu.name "GPU \\xfe"
meta gpu.memory_bytes 4096
meta oom.device cuda:0
meta oom.wanted_bytes 8192
meta oom.allocated_bytes 3072
meta oom.event 2
device cuda:0
alloc weight 1024 Parameter at=train.py:3
free weight
free weight
"""
ODD += "".join(
    f"""\
step
begin "layer \\xff"
alloc kept{step} 1024 Other op=aten::clone at="\\xfe.py:7"
end "layer \\xff"
"""
    for step in range(1, 6)
)

# What holds a tape, writes one or walks over one: not an answer.
NO_VALUES = {
    "Device", "Event", "EventColumns", "EventIterator", "Region", "Tables", "Tape", "TapeBuilder",
}
VALUES = sorted(
    name
    for name, thing in vars(_engine).items()
    if isinstance(thing, type)
    and not issubclass(thing, enum.Enum | Exception)
    and not name.endswith("Accumulator")
    and name not in NO_VALUES
    and name not in graphs.__all__
)


def answers(tape: tidemark.Tape, other: tidemark.Tape) -> list[Any]:
    return [
        tape.report(gpu=GPU), tape.report(), tape.peak(), tape.scopes(per_call=True),
        tape.timeline(), tape.timeline(columns=7, by="time"), tape.lifetimes(), tape.leaks(),
        tape.alloc(), tape.peak(allocator_settings="expandable_segments:True"),
        tape.diff(other), tape.verdict(gpu=GPU), tidemark.VerdictsAnswer([tape.verdict(gpu=GPU)]),
        tape.verify(), tidemark.find_ranks([tape, other]),
    ]


def is_value(thing: object) -> bool:
    return type(thing).__name__ in VALUES


def fields_of(value: object) -> dict[str, Any]:
    return {
        name: getattr(value, name)
        for name, kind in vars(type(value)).items()
        if isinstance(kind, property) and name != "columns"
    }


def parts_in(thing: Any) -> Iterator[Any]:
    """The thing and all that it is made of."""
    if is_value(thing):
        yield thing
        for field in fields_of(thing).values():
            yield from parts_in(field)
    if isinstance(thing, list | tidemark.Diagnostics):
        for part in thing:
            yield from parts_in(part)


def plain(thing: Any) -> Any:
    """All that Python can see of it, without asking the thing whether it is equal."""
    if isinstance(thing, list):
        return [plain(one) for one in thing]
    if isinstance(thing, tidemark.Diagnostics):
        return [plain(one) for one in thing]
    if is_value(thing):
        return {name: plain(field) for name, field in fields_of(thing).items()}
    return thing


@pytest.fixture(scope="module")
def met() -> dict[str, list[Any]]:
    """What two runs have of each class; of many alike the first few."""
    tapes = [tidemark.open(EXAMPLE), tidemark.read_text(ODD)]
    found: dict[str, list[Any]] = {name: [] for name in VALUES}
    for tape in tapes:
        for answer in answers(tape, tapes[0]):
            for part in parts_in(answer):
                if len(found[type(part).__name__]) < 30:
                    found[type(part).__name__].append(part)
    return found


@pytest.mark.parametrize("name", VALUES)
def test_each_class_comes_back_as_it_was(met, name):
    assert met[name], f"no answer here has a {name}"
    for part in met[name]:
        for again in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part), copy.copy(part)):
            assert again is not part and type(again) is type(part)
            assert again == part
            assert plain(again) == plain(part)


@pytest.mark.parametrize("name", VALUES)
def test_things_are_equal_where_all_their_fields_are(met, name):
    for one in met[name]:
        for other in met[name]:
            assert (one == other) == (plain(one) == plain(other)), (one, other)
        assert one != object()


@pytest.mark.parametrize("name", VALUES)
def test_a_pickle_of_another_shape_is_refused(name):
    with pytest.raises(tidemark.Error, match="another version"):
        cls = getattr(_engine, name)
        cls.__new__(cls).__setstate__((1,) * 30)


def test_answers_with_other_values_are_refused(tiny):
    state = tiny.peak().devices[0].at.__getstate__()
    with pytest.raises(tidemark.Error, match="another version"):
        tidemark.When.__new__(tidemark.When).__setstate__((*state[:-1], 3.5))
    item = tiny.verdict(gpu=GPU).budget[0]
    name, size, evidence, reason = item.__getstate__()
    assert evidence < 3
    with pytest.raises(tidemark.Error, match="another version"):
        tidemark.BudgetItem.__new__(tidemark.BudgetItem).__setstate__((name, size, 3, reason))


def test_answers_print_and_become_json_as_before():
    tape = tidemark.read_text(ODD)
    for answer in answers(tape, tape):
        again = pickle.loads(pickle.dumps(answer))
        assert (str(again), again.to_json(), repr(again)) == (
            str(answer), answer.to_json(), repr(answer),
        )


def test_bytes_that_are_no_text_stay_what_they_are():
    odd = tidemark.read_text(ODD).peak()
    other = tidemark.read_text(ODD.replace("\\xff", "\\xfd")).peak()
    assert plain(odd) == plain(other)  # both are shown as U+FFFD
    assert odd != other
    assert pickle.loads(pickle.dumps(odd)) == odd
    assert pickle.loads(pickle.dumps(odd)) != other


def test_views_of_a_copied_timeline_outlive_it(tiny):
    (device,) = copy.deepcopy(tiny.timeline()).devices
    columns = device.columns
    del device
    assert columns["highest"].tolist() == [1024, 4096, 5120, 2048, 4096, 3072]


def test_an_answer_is_read_in_a_process_that_has_not_imported_tidemark(tiny):
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).devices[0].allocated_bytes)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, input=pickle.dumps(tiny.peak()), capture_output=True, check=False
    )
    assert done.stdout == b"5120\n", done.stderr


def test_what_is_equal_by_its_fields_cannot_be_a_key(tiny):
    with pytest.raises(TypeError, match="unhashable"):
        hash(tiny.peak())


@given(runs)
def test_every_answer_of_a_random_run_comes_back_equal(run):
    builder = tidemark.TapeBuilder()
    write(builder, run)
    tape = builder.finish()
    for answer in answers(tape, tape):
        again = pickle.loads(pickle.dumps(answer))
        assert again == answer and again.to_json() == answer.to_json()
