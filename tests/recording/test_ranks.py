"""Ranks of one run do not write over each other's tapes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import tidemark


@pytest.mark.parametrize(("save", "kept"), [
    ("run.tape", "run.rank3.tape"), ("run.txt", "run.rank3.txt"), ("run", "run.rank3")])
def test_a_rank_of_several_has_a_tape_of_its_own(tmp_path: Path, save: str, kept: str,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with tidemark.track(save=str(tmp_path / save)) as tracking:
        torch.ones(10)
    assert [file.name for file in tmp_path.iterdir()] == [kept]
    assert tracking.save == str(tmp_path / kept)
    assert dict(tidemark.open(str(tmp_path / kept)).meta)["run.rank"] == "3"


@pytest.mark.parametrize("world_size", ["", "1"])
def test_a_run_of_one_keeps_the_name(tmp_path: Path, world_size: str,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", world_size)
    with tidemark.track(save=str(tmp_path / "run.tape")):
        torch.ones(10)
    assert [file.name for file in tmp_path.iterdir()] == ["run.tape"]


def test_what_is_no_file_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert tidemark.track(save="/dev/null").save == "/dev/null"


def test_the_command_says_where_the_tape_of_its_rank_is(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\ntorch.ones(1000)\n")
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "record", "--save", "run.tape", "train.py"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env=os.environ | {"RANK": "1", "WORLD_SIZE": "2"})
    assert done.returncode == 0, done.stderr
    assert "the tape is run.rank1.tape" in done.stderr
    assert "run.rank1.tape" in done.stdout and "rank 1 of 2" in done.stdout
    assert (tmp_path / "run.rank1.tape").exists() and not (tmp_path / "run.tape").exists()
