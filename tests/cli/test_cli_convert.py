"""tidemark convert: the two forms hold the same, and no half file is left."""

import json

import pytest

import binary_tape as bt
from binary_tape import alloc, begin, finish, free

TAPE = """\
tape 1
meta run "a name with blanks"
device cuda:0
@100 alloc s0 4096 Parameter op=aten::empty at=train.py:3
step
phase forward
begin net
  alloc s1 700 Activation op=aten::mm stream=7
  free s1
end net
"""


def test_text_to_binary_and_back_is_the_same_text(write, tmp_path, tidemark):
    source = write(TAPE)
    assert tidemark("convert", source, tmp_path / "run.tape").returncode == 0
    assert tidemark("convert", tmp_path / "run.tape", tmp_path / "again.txt").returncode == 0
    assert (tmp_path / "again.txt").read_text() == TAPE


def test_a_dash_writes_text_to_standard_output_and_nothing_else(write, tidemark):
    result = tidemark("convert", write(TAPE), "-")
    assert (result.returncode, result.stdout, result.stderr) == (0, TAPE, "")


def test_binary_is_told_apart_by_the_name_and_begins_with_the_magic(write, tmp_path, tidemark):
    tidemark("convert", write(TAPE), tmp_path / "run.tape")
    assert (tmp_path / "run.tape").read_bytes().startswith(b"\x93TAPE\r\n\x1a")


@pytest.mark.parametrize("source", ["in.txt", "in.tape"])
@pytest.mark.parametrize(("out", "first"), [("run.txt", b"tape 1\n"), ("run.tape.txt", b"tape 1\n"),
                                            (".txt", b"tape 1\n"), ("run.tape", b"\x93TAPE"),
                                            ("run.txt.tape", b"\x93TAPE")])
def test_the_ending_decides_the_form_whatever_was_read(write, tmp_path, tidemark, source, out, first):
    write(TAPE, "in.txt")
    tidemark("convert", tmp_path / "in.txt", tmp_path / "in.tape")
    assert tidemark("convert", tmp_path / source, tmp_path / out).returncode == 0
    assert (tmp_path / out).read_bytes().startswith(first)


@pytest.mark.parametrize("name", ["run.tape", "run.txt"])
def test_a_tape_is_read_by_its_content_whatever_it_is_called(write, tmp_path, tidemark, name):
    tidemark("convert", write(TAPE, "in.txt"), tmp_path / "in.tape")
    for content in (TAPE.encode(), (tmp_path / "in.tape").read_bytes()):
        assert tidemark("convert", write(content, name), "-").stdout == TAPE


def test_binary_is_compressed_unless_told_otherwise(write, tmp_path, tidemark):
    source = write(TAPE + "alloc a 1\nfree a\n" * 1000)
    tidemark("convert", source, tmp_path / "small.tape")
    tidemark("convert", source, tmp_path / "large.tape", "--uncompressed")
    # 2007 events of 38 bytes, stored as they are, and at least their column data packed.
    assert (tmp_path / "large.tape").stat().st_size > 2007 * 38
    assert (tmp_path / "small.tape").stat().st_size < 2007 * 38 / 4
    for name in ("small.tape", "large.tape"):
        assert tidemark("diff", source, tmp_path / name).returncode == 0


def test_a_converted_tape_has_the_same_peak(write, tmp_path, tidemark):
    tidemark("convert", write(TAPE), tmp_path / "run.tape")
    peak = json.loads(tidemark("peak", tmp_path / "run.tape", "--json").stdout)
    # 4096, and 700 rounded up to 1024.
    assert peak["devices"][0]["allocated_bytes"] == 5120


@pytest.mark.parametrize(("out", "flags", "message"), [
    ("run.json", [], "which form"),
    ("run.txt", ["--uncompressed"], "never compressed"),
    ("missing/run.tape", [], "cannot write"),
    ("folder.tape", [], "cannot write"),
])
def test_an_impossible_output_is_refused_and_nothing_is_left(write, tmp_path, tidemark, out, flags,
                                                             message):
    source = write(TAPE)
    (tmp_path / "folder.tape").mkdir()
    before = sorted(tmp_path.rglob("*"))
    result = tidemark("convert", source, tmp_path / out, *flags)
    assert result.returncode == 2
    assert result.stderr.startswith(f"tidemark: {tmp_path / out}: ")
    assert message in result.stderr
    assert "\n  hint: " in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_an_unreadable_input_leaves_the_old_output_alone(write, tmp_path, tidemark):
    out = write("precious", "run.tape")
    assert tidemark("convert", write("tape 1\nbroken\n"), out).returncode == 2
    assert out.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.tape", "run.tape.txt"]


def test_a_tape_can_be_converted_onto_itself(write, tidemark):
    path = write(TAPE, "run.txt")
    assert tidemark("convert", path, path).returncode == 0
    assert path.read_text() == TAPE


# What breaks a rule in binary, and the code that verify has for it.
VIOLATIONS = {
    "wrong-free-size": bt.tape(alloc(0, 100), free(0, 90)),
    "negative-size": bt.tape(alloc(0, -5), alloc(1, 100)),
    "double-free": bt.tape(alloc(0, 100), free(0, 100), free(0, 0)),
    "free-unknown": bt.tape(free(3, 5), alloc(0, 100)),
    "alloc-twice": bt.tape(alloc(2, 1), alloc(2, 2)),
    "scope-not-open": bt.tape(finish(bt.NONE32)),
    "scope-left-open": bt.tape(begin(bt.NONE32)),
    "total-overflow": bt.tape(alloc(0, 1 << 62), alloc(1, 1 << 62)),
    "truncated-file": bt.tape(alloc(0, 1))[:-40],
    "missing-events": bt.header() + bt.tables() + bt.events(alloc(0, 100)) + bt.end(7),
}


@pytest.mark.parametrize("code", VIOLATIONS)
def test_converting_mends_nothing(write, tmp_path, tidemark, code):
    source = write(VIOLATIONS[code], "run.tape")
    assert tidemark("convert", source, tmp_path / "run.txt").returncode == 0
    assert tidemark("convert", tmp_path / "run.txt", tmp_path / "again.tape").returncode == 0
    assert tidemark("convert", tmp_path / "again.tape", tmp_path / "again.txt").returncode == 0
    found = [tidemark("verify", path, "--json")
             for path in (source, tmp_path / "run.txt", tmp_path / "again.tape")]
    assert [result.returncode for result in found] == [1, 1, 1]
    assert [d["code"] for d in json.loads(found[0].stdout)["diagnostics"]] == [code]
    assert found[1].stdout == found[2].stdout == found[0].stdout
    assert (tmp_path / "again.txt").read_text() == (tmp_path / "run.txt").read_text()


def test_odd_data_is_told_and_goes_along(write, tmp_path, tidemark):
    path = write('tape 1\ndiagnostic dropped warning 3 "event 1" "three were dropped"\nalloc a 1\n')
    result = tidemark("convert", path, tmp_path / "run.tape")
    assert result.returncode == 0
    assert "warning: three were dropped" in result.stderr
    assert tidemark("verify", tmp_path / "run.tape").returncode == 1
