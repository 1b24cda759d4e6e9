"""What an estimate takes of the host's own memory, and what it says when that is not enough."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from estimating import ask_estimate

BENCH = Path(__file__).resolve().parents[2] / "bench"
GIB = 1 << 30

READS_LARGE_TENSORS = """
import torch
weight = torch.ones(1024, 1024)
print("sum", weight.sum().item())
torch.nn.Linear(8, 8).cuda()(torch.ones(8, device="cuda"))
"""


since_2_13 = pytest.mark.skipif(
    tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13),
    reason="this PyTorch does not hand out the kernels of the CPU: large tensors have memory",
)


@since_2_13
def test_a_model_of_8_billion_weights_is_built_on_the_cpu_and_moved() -> None:
    command = [sys.executable, "-m", "tidemark", "estimate", "--quiet", str(BENCH / "llama_8b.py"), "moved"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in (0, 1)
    assert usage.ru_maxrss * 1024 < 2 * GIB  # of weights alone it has 30


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "reads.py"
    path.write_text(READS_LARGE_TENSORS)
    return path


def test_large_tensors_have_their_values(script: Path) -> None:
    plain = ask_estimate(script)
    assert "sum 1048576.0" in plain.script_output and not given_up(plain.facts)


@since_2_13
def test_values_that_are_given_up_are_told_with_their_line(script: Path) -> None:
    tight = ask_estimate("--host-memory", "1MiB", script)
    assert "sum 0.0" in tight.script_output
    (note,) = given_up(tight.facts)
    assert note["where"].endswith("reads.py:3") and "--host-memory" in note["message"]


def test_a_size_that_is_none_is_refused(script: Path) -> None:
    wrong = ask_estimate("--host-memory", "much", script)
    assert wrong.exit_code == 2 and "'much' is no size" in wrong.script_output


def given_up(facts: dict[str, list[dict[str, str]]]) -> list[dict[str, str]]:
    return [note for note in facts["diagnostics"] if note["code"] == "values-given-up"]
