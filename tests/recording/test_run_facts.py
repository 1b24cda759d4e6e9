"""What the tape of a live program says of its run as a whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import tidemark


def train(steps: int) -> None:
    model = torch.nn.Linear(16, 16)
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps):
        model(torch.randn(4, 16)).sum().backward()
        optimizer.step()


def test_a_block_that_is_left_ended_by_itself() -> None:
    with tidemark.track() as tracking:
        train(3)
    meta = tracking.tape.meta
    assert meta["run.kind"] == "record"
    assert (meta["run.ended"], meta["run.steps"]) == ("script", "3")
    assert meta["run.torch"] == torch.__version__
    assert (meta["run.rank"], meta["run.world_size"]) == ("0", "1")
    assert float(meta["run.wall_seconds"]) > 0
    assert meta["used.gpu"] == "no" and "gpu.name" not in meta


def test_an_error_is_told_with_its_place() -> None:
    with pytest.raises(ValueError), tidemark.track() as tracking:
        raise ValueError("not today")
    meta = tracking.tape.meta
    lines = Path(__file__).read_text().split("\n")
    line = 1 + next(i for i, text in enumerate(lines) if "raise ValueError" in text)
    assert meta["run.ended"] == "error"
    assert meta["run.failure"] == f"ValueError: not today ({__file__}:{line})"


def test_memory_that_runs_out_is_told() -> None:
    with pytest.raises(RuntimeError), tidemark.track(oom="ignore") as tracking:
        kept = torch.zeros(1000)
        torch.empty(2**56, dtype=torch.float64)
    meta = tracking.tape.meta
    assert meta["run.ended"] == "out-of-memory" and kept.shape == (1000,)
    assert (meta["oom.device"], meta["oom.wanted_bytes"]) == ("cpu", str(8 * 2**56))
    assert meta["oom.allocated_bytes"] == "4000"
    assert tracking.tape.events[int(meta["oom.event"])].kind == tidemark.Kind.Mark


def test_a_run_that_we_ended_says_so(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("from test_run_facts import train\ntrain(5)\n")
    folder = str(Path(__file__).parent)
    subprocess.run([sys.executable, "-m", "tidemark", "record", "--steps", "2", "--save", "run.tape",
                    str(script)], cwd=tmp_path, check=True, capture_output=True,
                   env={"PYTHONPATH": folder, "RANK": "1", "WORLD_SIZE": "2"})
    meta = tidemark.open(tmp_path / "run.rank1.tape").meta
    assert (meta["run.ended"], meta["run.steps"]) == ("steps", "2")
    assert (meta["run.rank"], meta["run.world_size"]) == ("1", "2")
