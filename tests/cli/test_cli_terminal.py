"""What changes on a terminal: width, colour, the progress line. And what must not in a pipe."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import exported_model
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "transformer.tape.txt"
VERBS = ["report", "peak", "scopes", "timeline", "lifetimes", "leaks", "alloc", "verify"]


def read_to_the_end(master, process):
    """All that the process writes to its terminal."""
    chunks = []
    while True:
        ready, _, _ = select.select([master], [], [], 0.2)
        if ready:
            try:
                chunks.append(os.read(master, 65536))
            except OSError:  # the other side is closed
                break
            if not chunks[-1]:
                break
        elif process.poll() is not None:
            break
    process.wait(timeout=60)
    return b"".join(chunks).decode()


@pytest.fixture
def on_terminal(binary):
    """Runs the command with stdout and stderr on a terminal of the given width."""

    def run(*words, columns=80, environment=None, streams=("stdout", "stderr")):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        ends = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        ends |= {stream: slave for stream in streams}
        process = subprocess.Popen([binary, *map(str, words)], stdin=subprocess.DEVNULL,
                                   env={**clean, "TERM": "xterm-256color", **(environment or {})},
                                   **ends)
        os.close(slave)
        text = read_to_the_end(master, process)
        os.close(master)
        assert process.returncode in (0, 1)
        return text

    return run


def without_colour(text):
    plain = text.split("\x1b[")
    return plain[0] + "".join(part.partition("m")[2] for part in plain[1:])


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
@pytest.mark.parametrize("verb", VERBS)
def test_no_line_is_wider_than_the_terminal(on_terminal, verb, columns):
    lines = without_colour(on_terminal(verb, EXAMPLE, columns=columns)).splitlines()
    assert lines
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("verb", VERBS)
def test_in_a_pipe_no_line_is_wider_than_80_and_none_has_colour(tidemark, verb):
    result = tidemark(verb, EXAMPLE, env={**os.environ, "COLUMNS": "200"})
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_a_terminal_gets_colour(on_terminal):
    assert "\x1b[" in on_terminal("report", EXAMPLE)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_none(on_terminal, environment):
    assert "\x1b" not in on_terminal("report", EXAMPLE, environment=environment)


def test_colour_changes_nothing_but_colour(on_terminal):
    plain = on_terminal("report", EXAMPLE, environment={"NO_COLOR": "1"})
    assert without_colour(on_terminal("report", EXAMPLE)) == plain


def test_a_terminal_of_unknown_width_is_as_wide_as_the_environment_says(on_terminal):
    lines = lambda columns: on_terminal("timeline", EXAMPLE, columns=0,
                                        environment={"COLUMNS": columns, "NO_COLOR": "1"})
    widest = lambda text: max(map(len, text.splitlines()))
    assert 60 < widest(lines("70")) <= 70
    assert 70 < widest(lines("nonsense")) <= 80


def test_json_on_a_terminal_has_no_colour(on_terminal):
    assert "\x1b" not in on_terminal("peak", EXAMPLE, "--json")


@pytest.mark.parametrize("verb", [*VERBS, "diff"])
def test_json_is_the_same_at_every_width(on_terminal, tidemark, verb):
    words = [verb, *[EXAMPLE] * (2 if verb == "diff" else 1), "--json"]
    piped = tidemark(*words).stdout
    assert piped.startswith("{\n")
    for columns in (70, 120, 200):
        shown = on_terminal(*words, columns=columns, streams=["stdout"])
        assert shown.replace("\r\n", "\n") == piped
        assert tidemark(*words, env={**os.environ, "COLUMNS": str(columns)}).stdout == piped


@pytest.fixture(scope="module")
def slow_tape(tmp_path_factory):
    path = tmp_path_factory.mktemp("slow") / "slow.txt"
    pair = b"alloc a 1 Activation op=aten::mm at=a.py:1\nfree a\n"
    path.write_bytes(b"tape 1\n" + pair * 1_000_000)
    yield path
    path.unlink()


@pytest.fixture(scope="module")
def slow_model(tmp_path_factory):
    """An exported model of many nodes."""
    tensors = {name: exported_model.tensor(4) for name in "xy"}
    nodes = [exported_model.node("torch.ops.aten.neg.default", ["x"], ["y"])] * 200_000
    path = tmp_path_factory.mktemp("slow") / "slow.pt2"
    yield exported_model.write_archive(path, exported_model.model(["x"], nodes, ["y"], tensors))
    path.unlink()


@pytest.mark.parametrize("source", ["slow_tape", "slow_model"])
def test_a_read_of_over_a_second_shows_a_line_on_a_terminal_and_wipes_it(
        on_terminal, request, source):
    path = request.getfixturevalue(source)
    began = time.monotonic()
    shown = on_terminal("peak", path, streams=["stderr"])
    took = time.monotonic() - began
    if took < 1:
        assert shown == ""
    elif took > 5:
        assert path.name in shown
    if shown:
        assert path.name in shown
        assert shown.endswith("\r")
        assert shown.rstrip("\r").rpartition("\r")[2].strip() == ""


def test_a_quick_read_shows_no_progress(on_terminal):
    assert on_terminal("peak", EXAMPLE, streams=["stderr"]) == ""


def test_progress_is_never_in_a_pipe(tidemark, slow_tape):
    assert tidemark("peak", slow_tape).stderr == ""


def test_a_reader_that_goes_away_is_no_error(binary):
    command = f"'{binary}' scopes '{EXAMPLE}' --calls --json | head -1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "{\n", "")


def test_a_reader_that_goes_away_is_no_error_when_the_signal_is_ignored(binary):
    command = f"trap '' PIPE; '{binary}' scopes '{EXAMPLE}' --calls --json | head -1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr) == ("{\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_behind_standard_output_is_an_error(binary):
    with open("/dev/full", "w") as full:
        result = subprocess.run([binary, "peak", str(EXAMPLE)], stdout=full,
                                stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr.startswith("tidemark: standard output: cannot write")
