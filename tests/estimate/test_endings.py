"""However a script ends, and wherever the report goes: the exit code and the report tell it."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forked_commands import run_command

USE = "import torch, sys\nx = torch.zeros(1000, device=DEVICE)\n"


def run(folder: Path, verb: str, text: str, *flags: str, **how: Any) -> subprocess.CompletedProcess[str]:
    write(folder, verb, text)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.run([sys.executable, "-m", "tidemark", verb, *flags, "train.py"], cwd=folder,
                          text=True, timeout=120, check=False, **streams)


def ask(folder: Path, verb: str, text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """The same without a fresh Python: of what the process itself has no part in."""
    write(folder, verb, text)
    return run_command(verb, *flags, "train.py", cwd=folder, timeout=120)


def write(folder: Path, verb: str, text: str) -> None:
    (folder / "train.py").write_text(f"DEVICE = {'cuda' if verb == 'estimate' else 'cpu'!r}\n" + text)


VERBS = pytest.mark.parametrize("verb", ["estimate", "record"])


@VERBS
@pytest.mark.parametrize(("text", "way"), [("", run), ("sys.exit()", ask), ("sys.exit(0)", ask),
                                           ("sys.exit(None)", ask)])
def test_a_script_that_ends_well(tmp_path: Path, verb: str, text: str, way: Any) -> None:
    done = way(tmp_path, verb, USE + text)
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr


@pytest.mark.parametrize(("verb", "code"), [("estimate", 2), ("record", 1)])
def test_the_text_of_an_exit_is_told(tmp_path: Path, verb: str, code: int) -> None:
    """`record` ends with the script's own exit code, which is 1 for a text."""
    done = ask(tmp_path, verb, USE + "sys.exit('no data in /data')", "--json")
    assert done.returncode == code
    assert "no data in /data\ntidemark: the script failed" in done.stderr
    assert json.loads(done.stdout)["peak"]["devices"]


@pytest.mark.parametrize(("verb", "code"), [("estimate", 2), ("record", 3)])
def test_an_exit_code_is_a_failure(tmp_path: Path, verb: str, code: int) -> None:
    done = ask(tmp_path, verb, USE + "sys.exit(3)")
    assert done.returncode == code
    assert "the script ended with exit code 3\ntidemark: the script failed" in done.stderr


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Commands start with SIGINT at its default: a shell that runs these tests in the background
    has it ignored, children inherit that, and a handler of ours they do not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("verb", "code"), [("estimate", 2), ("record", 128 + signal.SIGINT)])
def test_an_interrupt_leaves_the_report_up_to_then(tmp_path: Path, verb: str, code: int) -> None:
    text = USE + "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(60)\n"
    done = run(tmp_path, verb, text, "--json")
    assert done.returncode == code
    assert "tidemark: interrupted at " in done.stderr and "Traceback" not in done.stderr
    assert json.loads(done.stdout)["peak"]["devices"]


NOISE = """
import atexit, os, subprocess, threading, time
print("from print")
os.write(1, b"from the descriptor\\n")
subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
import ctypes
ctypes.CDLL(None).puts(b"from C")
threading.Thread(target=lambda: (time.sleep(1), print("from a thread")), daemon=False).start()
@atexit.register
def late():
    print("from an exit handler")
    sys.__stdout__.write("from the stream as it was\\n")
    os.write(1, b"late, from the descriptor\\n")
"""


@VERBS
def test_standard_output_is_the_report_alone(tmp_path: Path, verb: str) -> None:
    done = run(tmp_path, verb, USE + NOISE, "--json")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    for text in ("from print", "from the descriptor", "from a child", "from C", "from a thread",
                 "from an exit handler", "from the stream as it was", "late, from the descriptor"):
        assert text in done.stderr


@VERBS
def test_a_full_standard_output_is_told(tmp_path: Path, verb: str) -> None:
    with open("/dev/full", "w") as full:
        done = run(tmp_path, verb, USE, stdout=full)
    assert done.returncode == 2
    assert done.stderr.endswith("tidemark: standard output: cannot write: No space left on device\n"
                                "  hint: is the disk full?\n")
    assert "Traceback" not in done.stderr


@VERBS
def test_a_closed_standard_output_is_told_before_the_script_runs(tmp_path: Path, verb: str) -> None:
    (tmp_path / "train.py").write_text("open('ran', 'w')\n")
    command = f"{sys.executable} -m tidemark {verb} train.py >&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                          timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr == "tidemark: standard output: cannot write: Bad file descriptor\n"
    assert not (tmp_path / "ran").exists()


@VERBS
def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path, verb: str) -> None:
    command = f"{sys.executable} -m tidemark {verb} train.py; echo $? >code"
    device = "cuda" if verb == "estimate" else "cpu"
    (tmp_path / "train.py").write_text(
        f"import time, torch\nx = torch.zeros(1000, device={device!r})\ntime.sleep(1)\n")
    piped = f"({command}) | true"
    done = subprocess.run(["sh", "-c", piped], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120, check=False)
    assert (tmp_path / "code").read_text() == "0\n" and "Traceback" not in done.stderr


def test_help_on_a_full_disk_is_told() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "--help"], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 2 and "cannot write: No space left on device" in done.stderr
    assert "Exception" not in done.stderr


@VERBS
@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"},
                                         {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_terminals_that_know_ascii_alone_get_a_report(
    tmp_path: Path, verb: str, environment: dict[str, str]
) -> None:
    done = run(tmp_path, verb, USE, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    assert "peak" in done.stdout


PRINTING = """
import torch, sys
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters())
for step in range(3):
    model(torch.ones(2, 8, device="cuda")).sum().backward()
    optimizer.step()
    print("to stdout", step)
    print("to stderr", step, file=sys.stderr)
    sys.stderr.buffer.write(b"bytes %d\\n" % step)
    sys.stderr.buffer.flush()
print("an unfinished line", end="", flush=True)
model(torch.ones(2, 8, device="cuda")).sum().backward()
optimizer.step()
print(", finished")
"""


def screen(text: str) -> list[str]:
    """The lines a terminal shows: a carriage return goes back, `CSI K` clears to the right."""
    lines, column = [""], 0
    for part in re.findall(r"\x1b\[K|\r|\n|[^\x1b\r\n]+", text):
        line = lines[-1]
        if part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
            column = 0
        elif part == "\x1b[K":
            lines[-1] = line[:column]
        else:
            lines[-1] = line[:column].ljust(column) + part + line[column + len(part):]
            column += len(part)
    return lines


def test_the_progress_line_makes_room_for_what_the_script_writes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PRINTING)
    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "tidemark", "estimate", "--steps", "0", "train.py"],
                               cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            seen += (chunk := os.read(master, 65536))
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
    assert process.wait(timeout=60) == 0
    os.close(master)
    text = seen.decode()
    assert re.search(r"step \d  \d+ ops", text)  # it was drawn
    shown = [line for line in screen(text) if line]
    expected = [f"{what} {step}" for step in range(3) for what in ("to stdout", "to stderr", "bytes")]
    assert shown == [*expected, "an unfinished line, finished"]


@VERBS
def test_a_flag_of_ours_after_the_script_is_the_script_s_with_a_note(tmp_path: Path, verb: str) -> None:
    write(tmp_path, verb, USE + "print('given', sys.argv[1:])\n")
    done = run_command(verb, "train.py", "--steps", "3", "--save=x", "--other", cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "given ['--steps', '3', '--save=x', '--other']" in done.stderr
    assert done.stderr.count("tidemark: note: ") == 1
    assert "--steps and --save after train.py are the script's own" in done.stderr
    plain = run_command(verb, "train.py", "--other", cwd=tmp_path, timeout=120)
    assert "note" not in plain.stderr
