"""Writing a tape event by event."""

import gc
from pathlib import Path

import pytest

import tidemark
from tidemark import Category, Kind, Phase, Severity


def test_a_builder_writes_what_the_text_form_says():
    builder = tidemark.TapeBuilder()
    builder.set_meta("model", "tiny")
    builder.set_time(100)
    weight = builder.alloc("cuda:0", 4096, Category.Parameter, source=("train.py", 3))
    builder.begin_step()
    builder.set_phase("forward")
    with builder.region("layers.0"):
        builder.relabel(weight, "Buffer", op="aten::mm", signature="(2x2)")
        builder.input(weight)
    builder.free(weight, phase=Phase.Backward, scope="elsewhere")
    same = tidemark.read_text(
        "tape 1\nmeta model tiny\ndevice cuda:0\n@100 alloc w 4096 Parameter at=train.py:3\nstep\n"
        "phase forward\nbegin layers.0\nrelabel w Buffer op=aten::mm sig=(2x2)\ninput w\n"
        "end layers.0\nfree w phase=backward scope=elsewhere\n"
    )
    assert builder.finish().to_text() == same.to_text()


def test_a_scope_left_out_is_the_innermost_open_one():
    builder = tidemark.TapeBuilder()
    builder.begin_scope("outer")
    builder.begin_scope("inner")
    assert builder.innermost_scope == "inner"
    builder.mark("a")
    builder.mark("b", scope="")
    builder.end_scope("outer")
    builder.mark("c")
    tape = builder.finish()
    assert [event.scope for event in tape if event.kind == Kind.Mark] == ["inner", "", "inner"]


def test_a_source_may_be_a_stack_from_the_outermost_caller_inwards():
    builder = tidemark.TapeBuilder()
    builder.mark("x", source=[("main.py", 1, "main"), ("model.py", 20, "forward")])
    tape = builder.finish()
    assert tape[0].source == "model.py:20"
    assert tape.tables.frames(int(tape.columns.stack[0])) == [
        ("model.py", 20, "forward"), ("main.py", 1, "main"),
    ]


def test_a_region_ends_when_its_block_raises():
    builder = tidemark.TapeBuilder()
    with pytest.raises(KeyError), builder.region("risky"):
        raise KeyError
    assert [event.kind for event in builder.finish()] == [Kind.ScopeBegin, Kind.ScopeEnd]


def test_a_tape_finished_inside_a_region_leaves_the_next_tape_clean():
    builder = tidemark.TapeBuilder()
    with builder.region("all"):
        tape = builder.finish()
    assert [event.kind for event in tape] == [Kind.ScopeBegin]
    assert len(builder.finish()) == 0


def test_a_builder_is_empty_after_finish():
    builder = tidemark.TapeBuilder()
    builder.alloc("cpu", 8)
    assert (len(builder), repr(builder)) == (1, "<TapeBuilder: 1 events>")
    assert len(builder.finish()) == 1
    assert len(builder) == 0
    assert builder.alloc("cpu", 8) == 0


def test_a_storage_number_beyond_all_events_is_refused():
    builder = tidemark.TapeBuilder()
    with pytest.raises(tidemark.Error) as caught:
        builder.free(4_000_000_000)
    assert caught.value.code == "bad-argument"
    assert len(builder) == 0
    with pytest.raises(TypeError):
        builder.free(-1)


def test_irregular_events_are_written_and_verify_names_them():
    builder = tidemark.TapeBuilder()
    twice = builder.alloc("cpu", 8)
    builder.free(twice)
    builder.free(twice)
    builder.free(builder.new_storage())
    builder.end_scope("never begun")
    codes = {problem.code for problem in builder.finish().verify()}
    assert codes == {"double-free", "free-unknown", "scope-not-open"}


def test_a_numbered_storage_can_be_named_before_it_is_born():
    builder = tidemark.TapeBuilder()
    early = builder.new_storage()
    builder.alloc_as(early, "cpu", 64, "Input")
    builder.resize(early, 128)
    assert builder.finish().peak().devices[0].allocated_bytes == 128


def test_a_block_is_charged_until_its_storage_dies():
    builder = tidemark.TapeBuilder()
    storage = builder.alloc("cuda:0", 11_000_000, "Activation")
    builder.block(storage, 12 * 2**20)
    builder.free(storage)
    builder.alloc("cuda:0", 100)
    tape = builder.finish()
    assert tape[1].kind == Kind.Block
    assert tape.peak().devices[0].allocated_bytes == 12 * 2**20
    assert tape.peak().devices[0].requested_bytes == 11_000_000
    assert tidemark.read_text(tape.to_text()).to_text() == tape.to_text()


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda b: b.alloc("cpu", 8, "Parametre"), "Parameter"),
        (lambda b: b.set_phase("forwards"), "forward"),
        (lambda b: b.diagnose("c", "awful", "w", "m"), "warning"),
        (lambda b: b.mark("x", signature="(2)"), "operator"),
    ],
)
def test_an_unknown_word_is_an_error_that_says_what_to_try(call, hint):
    builder = tidemark.TapeBuilder()
    with pytest.raises(tidemark.Error) as caught:
        call(builder)
    assert caught.value.code == "bad-argument"
    assert hint in caught.value.hint
    assert len(builder) == 0


@pytest.mark.parametrize(
    "words",
    [{"ops": "aten::mm"}, {"source": "train.py:3"}, {"source": ("train.py",)}, {"stream": "one"},
     {"op": 3}, {"phase": 1.5}, {"source": [("a.py", 1), 2]}],
)
def test_a_wrong_keyword_or_type_is_a_type_error(words):
    builder = tidemark.TapeBuilder()
    with pytest.raises(TypeError):
        builder.mark("x", **words)
    assert len(builder) == 0


def test_a_name_beyond_all_bounds_is_refused():
    with pytest.raises(tidemark.Error):
        tidemark.TapeBuilder().begin_scope("x" * 1_000_000)


def test_diagnostics_of_a_source_travel_with_the_tape():
    builder = tidemark.TapeBuilder()
    builder.diagnose("events-dropped", Severity.Warning, "event 0", "the ring was full", count=3)
    (problem,) = builder.finish().diagnostics
    assert (problem.code, problem.count) == ("events-dropped", 3)
    assert (problem.severity, problem.where) == (Severity.Warning, "event 0")
    assert problem.message == "the ring was full"


def test_a_spilling_builder_writes_a_file_that_a_killed_run_leaves_readable(tmp_path: Path):
    builder = tidemark.TapeBuilder()
    builder.spill_to(tmp_path / "run.tape")
    builder.alloc("cuda:0", 512)
    builder.flush()
    cut = tidemark.open(tmp_path / "run.tape")
    assert len(cut) == 1 and len(cut.diagnostics) == 1
    builder.begin_step()
    kept = builder.finish()
    assert tidemark.open(tmp_path / "run.tape").to_text() == kept.to_text()


def test_a_builder_spills_to_one_file_at_a_time(tmp_path: Path):
    builder = tidemark.TapeBuilder()
    builder.spill_to(tmp_path / "one.tape", keep=False, compressed=False)
    with pytest.raises(tidemark.Error, match="already writes"):
        builder.spill_to(tmp_path / "two.tape")
    builder.finish()
    builder.spill_to(tmp_path / "two.tape")


def test_a_region_keeps_its_builder_alive():
    region = tidemark.TapeBuilder().region("alone")
    gc.collect()
    with region:
        pass
