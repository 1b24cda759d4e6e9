"""Training scripts in the idioms of well-known projects, each estimated as its users would."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from forked_commands import run_command
from on_gpu import SCALES, bytes_seen
from rows import ROWS, Row

SCRIPTS = Path(__file__).resolve().parent / "scripts"
ON_H200 = {row["script"]: row["real"]
           for row in json.loads((SCRIPTS.parent / "h200.json").read_text())["scripts"]}


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, and what is in it."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def estimate(row: Row, folder: Path) -> tuple[int, dict[str, Any], str]:
    """The whole script, to its end, run where its user's files would be."""
    done = run_command("estimate", "--json", "--steps", 0, *row.flags, SCRIPTS / f"{row.script}.py", cwd=folder)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def test_every_script_has_a_row() -> None:
    assert sorted(path.stem for path in SCRIPTS.glob("*.py")) == sorted(row.script for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.script)
def test_a_script_of_the_wild_fits_and_needs_what_its_shapes_say(row: Row, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    before = contents(tmp_path), contents(SCRIPTS)
    code, facts, told = estimate(row, tmp_path)
    assert (code, facts["verdict"], facts["run"]["ended"]) == (0, "fits", "script"), told
    assert facts["run"]["steps"] == row.steps
    assert [d for d in facts["diagnostics"] if d["severity"] == "error"] == []
    # Threads of DataParallel race for cuBLAS's handles, as on a real GPU: either may come first.
    gpus = sorted(one["device"] for one in facts["peak"]["devices"] if one["device"].startswith("cuda"))
    assert gpus == ["cuda:0", "cuda:1"][:len(gpus)]
    first = next(one for one in facts["peak"]["devices"] if one["device"] == "cuda:0")
    tensors = first["allocated_bytes"] - first["categories"].get("Workspace", 0)
    # Workspaces may put the peak where there are fewer tensors.
    assert row.least_bytes <= first["allocated_bytes"]
    assert tensors <= row.at_most * row.least_bytes
    assert (contents(tmp_path), contents(SCRIPTS)) == before


@pytest.mark.parametrize("name", SCALES)
def test_a_larger_one_peaks_where_a_real_gpu_does(name: str, tmp_path: Path) -> None:
    """Its allocator's peak on an H200, to one percent: convolutions, recurrent nets and all."""
    done = run_command("estimate", "--json", "--gpu", "h200", "--steps", 0, SCRIPTS / f"{name}.py", cwd=tmp_path,
                       WILD_SCALE=str(SCALES[name]))
    assert done.returncode == 0, done.stderr
    assert abs(bytes_seen(json.loads(done.stdout)) / ON_H200[name] - 1) < 0.01


def test_every_script_that_a_real_gpu_ran_is_compared() -> None:
    assert sorted(SCALES) == sorted(ON_H200)
