"""Every kind of bad input: the message, the place, the hint and the exit code."""

import json
import os
import struct

import pytest

import binary_tape as bt
from binary_tape import alloc, begin, finish, free

GOOD_TEXT = "tape 1\ndevice cpu\nalloc a 100\n"
GOOD = bt.tape(alloc(0, 100), free(0, 100))
HEADER_AND_TABLES = len(bt.header() + bt.tables())
EVENTS_END = len(GOOD) - len(bt.end(2))
TOO_LONG = b"n" * 1_000_000
WHOLE_63_BITS = 1 << 62


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


# --- words of the command line -------------------------------------------------------------------

@pytest.mark.parametrize(("words", "message", "hint"), [
    ([], "a verb is missing", "tidemark --help"),
    (["repotr"], 'unknown verb "repotr"', "did you mean report?"),
    (["frobnicate"], 'unknown verb "frobnicate"', "tidemark --help lists the verbs"),
    (["v" * 100_000], 'unknown verb "vvvv', "tidemark --help"),
    (["--jsno"], 'unknown flag "--jsno"', "flags come after the verb"),
    (["peak"], "peak: FILE is required", "tidemark peak --help"),
    (["peak", "FILE", "--jsno"], 'peak: unknown flag "--jsno"', "did you mean --json?"),
    (["peak", "FILE", "--alloc-conf", "expandable_segments:yes"], 'column 21: unexpected "yes"',
     "expected True or False"),
    (["alloc", "FILE", "--alloc-conf", "split:1"], 'column 1: unknown option "split"', "max_split_size_mb:128"),
    (["alloc", "FILE", "--memory", "much"], '--memory: no amount of memory: "much"', "as in 24GiB"),
    (["leaks", "FILE", "--calls"], 'leaks: unknown flag "--calls"', "tidemark leaks --help"),
    (["peak", "FILE", "FILE"], "peak: one word too many", "tidemark peak --help"),
    (["peak", "FILE", "--top", "few"], '--top: "few" is not a whole number', "--help"),
    (["peak", "FILE", "--top", "-1"], '--top: "-1" is not a whole number', "--help"),
    (["peak", "FILE", "--top", "9" * 30], "is not a whole number", "--help"),
    (["peak", "FILE", "--top"], "--top needs one value", "--help"),
    (["peak", "FILE", "--units", "MB"], '--units: "MB" is not one of auto, B, KiB', "--help"),
    (["peak", "FILE", "--device", "cuda:7"], 'no device "cuda:7"', "the tape has cpu"),
    (["peak", "FILE", "--step", "5"], "no step 5", "the tape has only step 0"),
    (["timeline", "FILE", "--by", "moon"], "--by: an axis is one of events, time", "--help"),
    (["diff", "FILE"], "diff: AFTER is required", "tidemark diff --help"),
    (["diff", "FILE", "FILE", "--device", "tpu"], 'no device "tpu"', "the tape has cpu"),
])
def test_wrong_usage_is_explained_and_exits_with_2(write, tidemark, words, message, hint):
    path = str(write(GOOD_TEXT))
    result = tidemark(*(path if word == "FILE" else word for word in words))
    first, second = result.stderr.splitlines()
    assert (result.returncode, result.stdout) == (2, "")
    assert first.startswith("tidemark: ") and message in first
    assert second.startswith("  hint: ") and hint in second
    assert len(first) < 1000


# --- files that cannot be used -------------------------------------------------------------------

UNUSABLE = {
    "an empty file": (b"", "", "the file is empty"),
    "text cut inside a line": (b"tape 1\ndevice cpu\nalloc a", ":3:1", "wrong number of operands"),
    "text without the first line": (b"alloc a 1\n", "", "this is text, but not a tape"),
    "text of blanks only": (b"\n\n", "", "this is text, but not a tape"),
    "some other file": (b"%PDF-1.7 and so on", "", "this is text, but not a tape"),
    "text of a newer version": (b"tape 3\n", ":1", "version 3 is not known here"),
    "a word that is none": (b"tape 1\n  alocc a 1\n", ":2:3", 'unknown word "alocc"'),
    "a key that is none": (b"tape 1\nalloc a 1 opp=x\n", ":2:11", 'unknown key "opp"'),
    "an open quote": (b'tape 1\nmark "oh\n', ":2:9", "no closing quote"),
    "a category that is none": (b"tape 1\nalloc a 1 Gradeint\n", ":2:11", "unknown category"),
    "a negative size in text": (b"tape 1\nalloc a -5\n", ":2:9", "a size cannot be negative"),
    "a size past 63 bits in text": (b"tape 1\nalloc a 9223372036854775808\n", ":2:9",
                                    "a size past 63 bits"),
    "a million-character name in text": (b"tape 1\nbegin " + TOO_LONG + b"\n", ":2:7",
                                         "a name of 1000000 bytes is too long"),
    "a million-character storage name": (b"tape 1\nalloc " + TOO_LONG + b" 1\n", ":2:7",
                                         "a name of 1000000 bytes is too long"),
    "NUL bytes in text": (b"tape 1\nalloc \0 1\n", ":2:7", "a NUL byte"),
    "text that is not UTF-8": (b"tape 1\nmark caf\xe9\n", ":2:9", "not UTF-8"),
    "the wrong magic": (b"\x93TAPF\r\n\x1a" + GOOD[8:], "", "this is not a .tape file"),
    "line ends translated on the way": (GOOD.replace(b"\r\n", b"\n"), "", "this is not a .tape"),
    "binary of a newer version": (bt.header(5) + GOOD[16:], "", "tape version 5 is not known here"),
    "binary of an older version": (bt.header(1) + GOOD[16:], "", "tape version 1 is not known here"),
    "binary cut inside its header": (GOOD[:10], "at byte 0", "ends inside its header"),
    "binary cut inside its tables": (GOOD[:HEADER_AND_TABLES - 1], "at byte 16",
                                     "ends inside a block"),
    "binary cut inside its events": (GOOD[:EVENTS_END - 1], f"at byte {HEADER_AND_TABLES}",
                                     "ends inside a block"),
    "a bad checksum of the tables": (flipped(GOOD, HEADER_AND_TABLES - 1), "at byte 16",
                                     "checksum is wrong"),
    "a bad checksum of the events": (flipped(GOOD, EVENTS_END - 1), f"at byte {HEADER_AND_TABLES}",
                                     "checksum is wrong"),
    "an event on a device that is none": (bt.tape(alloc(0, 1), devices=()), "",
                                          "points past its table"),
    "an event in a scope that is none": (bt.tape(begin(3)), "", "points past its table"),
    "a million-character name in binary": (bt.tape(alloc(0, 1), strings=[TOO_LONG]), "",
                                           "a name of 1000000 bytes is too long"),
}


@pytest.mark.parametrize("case", UNUSABLE)
@pytest.mark.parametrize("verb", ["report", "verify"])
def test_an_unusable_file_is_refused_with_place_and_hint(write, tidemark, case, verb):
    content, where, message = UNUSABLE[case]
    path = write(content, "run.tape")
    result = tidemark(verb, path)
    first = result.stderr.splitlines()[0]
    assert (result.returncode, result.stdout) == (2, "")
    assert first.startswith(f"tidemark: {path}")
    assert where in first and message in first
    assert len(result.stderr) < 2000


def test_a_missing_file_is_named(tmp_path, tidemark):
    result = tidemark("peak", tmp_path / "gone.tape")
    assert result.returncode == 2
    assert result.stderr == (f"tidemark: {tmp_path}/gone.tape: no such file\n"
                             "  hint: check the path\n")


def test_a_directory_is_named(tmp_path, tidemark):
    result = tidemark("peak", tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith(f"tidemark: {tmp_path}: this is a directory\n  hint: ")


def test_a_device_file_is_refused(tidemark):
    result = tidemark("peak", "/dev/null")
    assert result.returncode == 2
    assert "not a regular file" in result.stderr


def test_a_path_that_is_not_utf8_does_not_break_the_message(tidemark):
    result = tidemark("peak", os.fsdecode(b"gone\xff.tape"))
    assert result.returncode == 2
    assert "gone\ufffd.tape: no such file" in result.stderr


@pytest.mark.parametrize("broken", ["before", "after"])
def test_diff_names_the_file_that_is_broken(write, tidemark, broken):
    paths = {"before": write(GOOD_TEXT, "a.txt"), "after": write(GOOD_TEXT, "b.txt")}
    paths[broken].write_text("tape 1\nalloc\n")
    result = tidemark("diff", paths["before"], paths["after"])
    assert result.returncode == 2
    assert result.stderr.startswith(f"tidemark: {paths[broken]}:2:1: ")


# --- files that are odd, but usable --------------------------------------------------------------
# Each: the content, the code that verify reports, and the peak that is still the right answer.

ODD = {
    "a double free in text": (b"tape 1\ndevice cpu\nalloc a 100\nfree a\nfree a\nalloc b 70\n",
                              "double-free", 100),
    "a double free in binary": (bt.tape(alloc(0, 100), free(0, 100), free(0, 100), alloc(1, 70)),
                                "double-free", 100),
    "a free of unknown storage in text": (b"tape 1\ndevice cpu\nfree ghost\nalloc a 100\n",
                                          "free-unknown", 100),
    "a free of unknown storage in binary": (bt.tape(free(1, 5), alloc(0, 100)),
                                            "free-unknown", 100),
    "a scope ended twice in text": (b"tape 1\ndevice cpu\nbegin m\nalloc a 100\nend m\nend m\n",
                                    "scope-not-open", 100),
    "a scope ended twice in binary": (
        bt.tape(begin(0), alloc(0, 100), finish(0), finish(0), strings=[b"m"],
                scopes=[(0, bt.NONE32)]), "scope-not-open", 100),
    "a scope left open": (b"tape 1\ndevice cpu\nbegin m\nalloc a 100\n", "scope-left-open", 100),
    "a negative size in binary": (bt.tape(alloc(0, -5), alloc(1, 100)), "negative-size", 100),
    "a total past 63 bits in text": (
        f"tape 1\ndevice cpu\nalloc a {WHOLE_63_BITS}\nalloc b {WHOLE_63_BITS}\n".encode(),
        "total-overflow", 2**63 - 1),
    "a total past 63 bits in binary": (
        bt.tape(alloc(0, WHOLE_63_BITS), alloc(1, WHOLE_63_BITS)), "total-overflow", 2**63 - 1),
    "binary cut before its end": (GOOD[:EVENTS_END], "truncated-file", 100),
    "binary damaged after its events": (flipped(GOOD, len(GOOD) - 1), "damaged-file", 100),
    "binary with fewer events than promised": (
        bt.header() + bt.tables() + bt.events(alloc(0, 100)) + bt.end(7), "missing-events", 100),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_data_is_named_by_verify_with_exit_code_1(write, tidemark, case):
    content, code, _ = ODD[case]
    result = tidemark("verify", write(content, "run.tape"), "--json")
    assert (result.returncode, result.stderr) == (1, "")
    assert [d["code"] for d in json.loads(result.stdout)["diagnostics"]] == [code]


@pytest.mark.parametrize("case", ODD)
def test_odd_data_still_gets_the_right_peak(write, tidemark, case):
    content, _, peak = ODD[case]
    result = tidemark("peak", write(content, "run.tape"), "--json")
    assert (result.returncode, result.stderr) == (0, "")
    [device] = json.loads(result.stdout)["devices"]
    assert device["allocated_bytes"] == peak


@pytest.mark.parametrize("case", ODD)
def test_odd_data_is_told_below_the_report(write, tidemark, case):
    content, code, _ = ODD[case]
    result = tidemark("report", write(content, "run.tape"))
    assert (result.returncode, result.stderr) == (0, "")
    assert code in result.stdout


@pytest.mark.parametrize(("name", "in_json"), [(b"a\0b", "a\0b"), (b"a\x1b[31mb", "a\x1b[31mb"),
                                               (b"caf\xe9", "caf\ufffd")])
def test_strange_bytes_in_names_of_a_binary_tape_are_made_harmless(write, tidemark, name, in_json):
    path = write(bt.tape(begin(0), alloc(0, 100), finish(0), strings=[name],
                         scopes=[(0, bt.NONE32)]), "run.tape")
    result = tidemark("scopes", path)
    assert result.returncode == 0
    assert not any(ord(c) < 32 and c != "\n" for c in result.stdout)
    scopes = json.loads(tidemark("scopes", path, "--json").stdout)["scopes"]
    assert [s["path"] for s in scopes] == [in_json]


# --- compressed blocks that lie ------------------------------------------------------------------

def with_block(data, at, raw_size=None, change=lambda stored: stored):
    """The file with one block's claim or content changed, and its checksum made right again."""
    kind, codec, stored_size, claimed = struct.unpack_from("<IIQQ", data, at)
    stored = change(data[at + 32:at + 32 + stored_size])
    head = struct.pack("<IIQQ", kind, codec, len(stored), raw_size or claimed)
    return (data[:at] + head + struct.pack("<Q", bt.checksum(head + stored)) + stored
            + data[at + 32 + stored_size:])


@pytest.fixture
def compressed(write, tmp_path, tidemark):
    """A compressed tape of 2000 events, and where its block of events begins."""
    source = write(GOOD_TEXT + "alloc b 1\nfree b\n" * 1000)
    tidemark("convert", source, tmp_path / "packed.tape")
    data = (tmp_path / "packed.tape").read_bytes()
    at = 16 + 32 + struct.unpack_from("<Q", data, 16 + 8)[0]
    if struct.unpack_from("<I", data, at + 4)[0] != 1:
        pytest.skip("this build has no zstd")
    return data, at


@pytest.mark.parametrize(("lie", "message"), [
    (dict(raw_size=1 << 40), "impossibly large"),
    (dict(raw_size=16 << 20), "shorter than it claims"),
    (dict(raw_size=38), "compressed block is damaged"),
    (dict(change=lambda stored: stored[:-5]), "compressed block is damaged"),
    (dict(change=lambda stored: b"not zstd" + stored[8:]), "compressed block is damaged"),
    (dict(change=lambda stored: b""), "shorter than it claims"),
])
def test_a_compressed_block_that_lies_is_refused(write, tidemark, compressed, lie, message):
    data, at = compressed
    result = tidemark("peak", write(with_block(data, at, **lie), "run.tape"))
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_rewritten_block_without_a_lie_is_read(write, tidemark, compressed):
    data, at = compressed
    result = tidemark("verify", write(with_block(data, at), "run.tape"))
    assert (result.returncode, result.stderr) == (0, "")


def test_every_cut_of_a_binary_tape_is_an_error_or_a_diagnostic(write, tidemark):
    for length in range(0, len(GOOD), 7):
        result = tidemark("verify", write(GOOD[:length], "run.tape"))
        assert result.returncode == (1 if length >= EVENTS_END else 2)
