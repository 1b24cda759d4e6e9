"""`--rank all` and several `--world-size`: each kind of rank is run once, and the worst is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from estimating import ask_estimate
from forked_commands import run_command

# 10 rows over 4 ranks: 3, 3, 3 and 1. Rank 0 keeps something that the others do not.
PROGRAM = """
import os
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = torch.nn.Linear(1024 * 1024, 10, bias=False, device="cuda")
fully_shard(model)
extra = torch.empty(64 * 1024 * 1024, device="cuda") if dist.get_rank() == 0 else None
optimizer = torch.optim.SGD(model.parameters())
for _ in range(2):
    model(torch.ones(1, 1024 * 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
ROW = 1024 * 1024 * 4
EXTRA = 64 * 1024 * 1024 * 4


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def test_every_kind_of_rank_is_run_once(script: Path, tmp_path: Path) -> None:
    tape = tmp_path / "worst.tape"
    done = ask_estimate("--quiet", "--world-size", 4, "--rank", "all", "--save", tape, script)
    assert done.exit_code == 0, done.script_output
    rows = {one["rank"]: one for one in done.facts["verdicts"]}
    assert {rank: one["ranks_alike"] for rank, one in rows.items()} == {
        0: "0-2", 1: "0-2", 3: "3"}
    assert rows[0]["tensor_bytes"] - rows[1]["tensor_bytes"] == EXTRA
    # FSDP2 pads shards to equal lengths, so that they can be gathered: the last rank saves nothing.
    assert rows[1]["tensor_bytes"] == rows[3]["tensor_bytes"]
    worst = subprocess.run([sys.executable, "-m", "tidemark", "report", tape], capture_output=True,
                           text=True, check=True).stdout
    assert "rank 0 of 4" in worst


def test_several_sizes_are_a_table(script: Path) -> None:
    done = ask_estimate("--quiet", "--world-size", "2,5", "--rank", 1, script)
    assert done.exit_code == 0, done.script_output
    assert [(one["world_size"], one["rank"]) for one in done.facts["verdicts"]] == [(2, 1), (5, 1)]
    two, five = (one["tensor_bytes"] for one in done.facts["verdicts"])
    # A rank holds 5 rows of 10, or 2.
    assert two - five in (2 * 3 * ROW, 3 * ROW)


def test_the_table_says_which_rank_needs_most(script: Path) -> None:
    done = run_command("estimate", "--world-size", 4, "--rank", "all", script)
    assert done.returncode == 0, done.stderr
    assert "tidemark: rank 3 of 4" in done.stderr
    assert "Rank 0 of 4 needs most:" in done.stdout
    assert "ranks 0-2 hold shards like rank 0's; those of 3 are of other sizes" in " ".join(
        done.stdout.split())


@pytest.mark.parametrize(("flags", "told"), [
    (["--rank", "all"], "--rank all needs --world-size N"),
    (["--world-size", "4,0"], "must be at least 1"),
    (["--world-size", "8,2", "--rank", "3"], "--rank 3 is not below --world-size 2"),
    (["--gpu", "all", "--world-size", "2,4"], "--gpu all is one table"),
    (["--world-size", "two"], "invalid"),
])
def test_what_cannot_be_asked_is_refused(flags: list[str], told: str, script: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", *flags, str(script)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert told in done.stderr
