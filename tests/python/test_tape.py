"""Opening, saving and asking a tape about itself."""

from pathlib import Path

import pytest

import tidemark
from tidemark import Category, Kind, Phase


def test_a_tape_says_what_it_holds(tiny):
    assert len(tiny) == 15
    assert tiny.devices == ["cuda:0"]
    assert tiny.steps == 2
    assert tiny.meta == {"model": "tiny"}
    assert len(tiny.diagnostics) == 0
    assert repr(tiny) == "<Tape: 15 events, 2 steps, cuda:0>"


def test_indexing_gives_events_with_names(tiny):
    event = tiny[4]
    assert (event.index, event.kind, event.bytes) == (4, Kind.Alloc, 3000)
    assert (event.category, event.phase, event.step) == (Category.Activation, Phase.Forward, 1)
    assert (event.device, event.storage, event.scope) == ("cuda:0", 1, "layers.0")
    assert (event.op, event.source) == ("aten::mm", "train.py:12")
    assert (event.stream, event.segment, event.text, event.signature) == (None, None, "", "")
    assert tiny[-1].kind == Kind.Step
    assert repr(event) == "<Event 4: alloc storage 1, 2.93 KiB Activation in layers.0>"


def test_marks_segments_and_streams_have_their_own_attributes():
    builder = tidemark.TapeBuilder()
    builder.mark("loading", stream=7)
    builder.map_segment("cuda:0", 3, 2 << 20)
    builder.begin_call("aten::mm", "(2x3, 3x4)")
    tape = builder.finish()
    assert (tape[0].text, tape[0].stream, tape[0].storage) == ("loading", 7, None)
    assert (tape[1].segment, tape[1].bytes, tape[1].device) == (3, 2 << 20, "cuda:0")
    assert (tape[2].op, tape[2].signature) == ("aten::mm", "(2x3, 3x4)")


def test_pools_of_the_allocator_are_events():
    builder = tidemark.TapeBuilder()
    builder.use_pool("cuda:0", 2, source=("train.py", 3))
    builder.release_pool("cuda:0", 2)
    builder.empty_cache("cuda:0")
    tape = builder.finish()
    assert [(event.kind, event.pool, event.device) for event in tape] == [
        (Kind.PoolUse, 2, "cuda:0"), (Kind.PoolRelease, 2, "cuda:0"), (Kind.CacheEmpty, 0, "cuda:0")]
    assert tape[0].source == "train.py:3" and tape[0].segment is None
    assert tidemark.read_text(tape.to_text()).to_text() == tape.to_text()


def test_iteration_visits_every_event_in_order(tiny):
    assert [event.index for event in tiny] == list(range(15))
    assert [event.kind for event in tiny if event.step == 0] == [Kind.Alloc]


@pytest.mark.parametrize("index", [15, -16, 10**12])
def test_an_index_past_the_ends_is_an_index_error(tiny, index):
    with pytest.raises(IndexError):
        tiny[index]


def test_an_iterator_outlives_the_name_of_its_tape():
    events = iter(tidemark.read_text("tape 1\nstep\nstep\n"))
    assert [event.kind for event in events] == [Kind.Step, Kind.Step]


def test_tables_explain_the_numbers_in_the_columns(tiny):
    tables = tiny.tables
    assert tables.scopes[tiny.columns.scope[4]] == "layers.0"
    assert tables.calls[tiny.columns.call[4]] == ("aten::mm", "")
    assert tables.sources[tiny.columns.stack[4]] == "train.py:12"
    assert tables.frames(int(tiny.columns.stack[4])) == [("train.py", 12, "")]
    (device,) = tables.devices
    assert (device.name, device.granularity, device.allocated_bytes(513)) == ("cuda:0", 512, 1024)


@pytest.mark.parametrize("compressed", [False, None, True])
def test_a_saved_tape_opens_as_the_same_tape(tiny, tmp_path: Path, compressed):
    if compressed and not tidemark.can_compress:
        pytest.skip("this build has no zstd")
    path = tmp_path / "run.tape"
    tiny.save(path, compressed=compressed)
    again = tidemark.open(path)
    assert again.to_text() == tiny.to_text()
    assert again.meta == tiny.meta


def test_compression_makes_a_large_file_smaller(tmp_path: Path):
    if not tidemark.can_compress:
        pytest.skip("this build has no zstd")
    tape = tidemark.read_text("tape 1\n" + "step\n" * 10_000)
    tape.save(tmp_path / "plain.tape", compressed=False)
    tape.save(str(tmp_path / "packed.tape"), compressed=True)
    plain, packed = ((tmp_path / name).stat().st_size for name in ("plain.tape", "packed.tape"))
    assert plain > 10_000 * 30 > packed * 10


def test_text_files_open_too(tiny, tmp_path: Path):
    path = tmp_path / "run.tape.txt"
    path.write_text(tiny.to_text())
    assert tidemark.open(str(path)).to_text() == tiny.to_text()


def test_a_name_that_is_not_utf8_is_shown_with_replacement_characters():
    tape = tidemark.read_text('tape 1\nbegin "a\\xff"\nalloc x 1\nend "a\\xff"\n')
    assert tape[0].scope == "a\ufffd"
    assert tape.tables.scopes == ["a\ufffd"]
    assert "a\ufffd" in str(tape.scopes())


def test_verify_names_what_is_broken():
    tape = tidemark.read_text("tape 1\nalloc a 8\nfree a\nfree a\nbegin s\n")
    found = tape.verify()
    assert found.has_errors and len(found) == 2
    twice = found.find("double-free")
    assert twice is not None and (twice.count, twice.where) == (1, "event 2")
    assert found.find("time-runs-back") is None
    assert {problem.code for problem in found} == {"double-free", "scope-left-open"}
    assert tidemark.verify(tape) == found
    assert "double-free x1" in repr(found)


def test_a_sound_tape_has_nothing_to_verify(tiny):
    found = tiny.verify()
    assert not found and not found.has_errors
    assert repr(found) == "<Diagnostics: nothing>"


def test_step_at_counts_from_the_set_up(tiny):
    assert [tiny.step_at(event) for event in (0, 1, 13, 14)] == [0, 1, 1, 2]
