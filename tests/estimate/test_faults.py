"""No input ends the process without a word: signals tell the operator, the line and what to do."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import programs
import pytest

import tidemark

# Each way to end is tried in a child of its own, one after the other.
PROGRAM = """
import ctypes, os, signal, sys
import torch

library = torch.library.Library("mine", "DEF")
library.define("read(Tensor x, int way) -> Tensor")

def shape_of_read(x, way):
    if way == 1:
        ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev()
    ctypes.string_at(8)

library.impl("read", shape_of_read, "Meta")
x = torch.ones(4, device="cuda")
WAYS = [
    lambda: torch.ops.mine.read(x, 0),  # line 16
    lambda: torch.ops.mine.read(x, 1),
    lambda: ctypes.string_at(x.data_ptr()),
    lambda: signal.raise_signal(signal.SIGBUS),
    lambda: signal.raise_signal(signal.SIGFPE),
]
for number, way in enumerate(WAYS):
    child = os.fork()
    if child == 0:
        os.write(2, b"way %d\\n" % number)
        way()
        os._exit(0)
    print("ended by", -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What was written for each way to end."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "train.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "train.py"], cwd=folder,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return re.split(r"^way \d\n", done.stderr, flags=re.MULTILINE)[1:]


@pytest.mark.parametrize(("way", "number", "place"), [
    (0, signal.SIGSEGV, r"SIGSEGV \(segmentation fault\) in mine::read, at .*train.py:16\n"),
    (1, signal.SIGABRT, r"SIGABRT \(abort\) in mine::read, at .*train.py:17\n"),
    (2, signal.SIGSEGV, r"SIGSEGV .*, outside of the virtual GPUs' operators\n"),
    (3, signal.SIGBUS, r"SIGBUS .*, outside of the virtual GPUs' operators\n"),
    (4, signal.SIGFPE, r"SIGFPE .*, outside of the virtual GPUs' operators\n"),
])
def test_a_fatal_signal_is_told_and_stays_what_it_was(
    told: list[str], way: int, number: int, place: str
) -> None:
    text = told[way]
    assert re.search(f"^tidemark: the process ends by {place}  hint: .*no memory", text, re.MULTILINE)
    assert re.search(r'^  File ".*train.py", line \d+ in <lambda>$', text, re.MULTILINE)
    assert f"ended by {number:d}\n" in text
    assert text.count("tidemark:") == 1
    assert ("terminate called" in text) == (way == 1)


def test_a_function_that_ends_its_process_names_the_signal() -> None:
    with pytest.raises(tidemark.EstimateError, match=r"was ended by SIGSEGV"):
        tidemark.estimate(programs.read_memory)
