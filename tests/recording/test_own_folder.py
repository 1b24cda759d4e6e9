"""Folders for tapes that nobody keeps: one that outlives its process is removed by the next that has one."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import tidemark

OWN = """
import os, signal
from tidemark.own_folder import OwnFolder
own = OwnFolder()
(own.path / "run.tape").touch()
"""
ENDS = {"is killed": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL), "leaves": ("os._exit(3)", 3)}


def run(folder: Path, *words: str, **variables: str) -> int:
    return subprocess.run([sys.executable, *words], env=os.environ | {"TMPDIR": str(folder)} | variables,
                          timeout=120, check=False).returncode


def folders(folder: Path) -> list[Path]:
    """Ours, not those that PyTorch keeps there."""
    return sorted(folder.glob("tidemark-*"))


@pytest.mark.parametrize("end", ENDS)
def test_what_a_process_leaves_is_removed_by_the_next(tmp_path: Path, end: str) -> None:
    how, code = ENDS[end]
    assert run(tmp_path, "-c", OWN + how) == code
    (left,) = folders(tmp_path)
    assert (left / "run.tape").exists()
    assert run(tmp_path, "-c", OWN) == 0
    assert folders(tmp_path) == []


def test_what_an_estimate_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import os\nos._exit(3)\n")
    assert run(tmp_path, "-m", "tidemark", "estimate", str(tmp_path / "train.py")) == 3
    assert len(folders(tmp_path)) == 2  # one is of files that are held back: the next estimate's to remove
    assert run(tmp_path, "-c", OWN) == 0
    (files,) = folders(tmp_path)
    assert files.name.startswith("tidemark-files-")


def test_folders_in_use_and_those_of_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that is followed, and of somebody who knows no locks."""
    other = tmp_path / "tidemark-abcdefgh"
    other.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tracking = tidemark.track()
    with tracking:
        assert run(tmp_path, "-c", OWN) == 0
    assert len(tracking.tape.events) == 0 and tracking.path.exists()
    del tracking
    gc.collect()
    assert folders(tmp_path) == [other]


def test_a_child_leaves_its_parent_s_folder_alone(tmp_path: Path) -> None:
    program = OWN + """
with own:
    if child := os.fork():
        os.waitpid(child, 0)
        assert (own.path / "run.tape").exists()
"""
    assert run(tmp_path, "-c", program) == 0
    assert folders(tmp_path) == []


def test_a_process_whose_files_are_held_back_removes_none(tmp_path: Path) -> None:
    """A script would be told to have removed them, and they would stay."""
    assert run(tmp_path, "-c", OWN + "os._exit(3)") == 3
    left = folders(tmp_path)
    assert run(tmp_path, "-c", OWN, TIDEMARK_SCRATCH=str(tmp_path)) == 0
    assert folders(tmp_path) == left != []
