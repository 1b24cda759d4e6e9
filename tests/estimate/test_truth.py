"""Runs of bench/truth, estimated today, beside what they needed on an H200 with torch 2.11.

`make test-truth` does the same with all of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRUTH = ROOT / "bench" / "truth"
GOLDEN = ROOT / "tests" / "golden" / "gpu" / "h200-torch2.11.json"
REAL = json.loads(GOLDEN.read_text(encoding="utf-8"))
MIB = 2**20

# The others take longer, or are known to miss: bench/truth/tolerances.py says which, and why.
TRIED = ("state_space_bf16", "tabular_mlp", "gru_packed", "t5_small_fp32", "resnet50_fp32")


def compared(names: list[str], golden: Path, out: Path) -> tuple[int, str, list[dict[str, Any]]]:
    done = subprocess.run(
        [sys.executable, str(TRUTH / "compare.py"), "--real", str(golden), "--check", "--out", str(out), "--only", *names],
        capture_output=True, text=True, timeout=300, check=False)
    assert out.exists(), done.stderr
    return done.returncode, done.stdout, json.loads(out.read_text())["rows"]


def test_every_run_was_measured() -> None:
    scripts = {path.stem for path in (TRUTH / "runs").glob("*.py")}
    assert set(REAL["runs"]) == scripts
    assert {"gpu", "driver", "torch", "cudnn"} <= set(REAL["machine"])


@pytest.mark.usefixtures("library_workspaces")
@pytest.mark.parametrize("name", TRIED)
def test_a_run_peaks_where_a_real_gpu_does(name: str, tmp_path: Path) -> None:
    code, told, (row,) = compared([name], GOLDEN, tmp_path / "rows.json")
    real = REAL["runs"][name]
    assert row["allocated"]["estimate"] == pytest.approx(real["peak_allocated"], rel=0.01)
    assert row["requested"]["estimate"] == pytest.approx(real["peak_requested"], rel=0.001)
    assert code == 0, told
    if name == TRIED[0]:
        assert_boundaries_agree(row, real)


def assert_boundaries_agree(row: dict[str, Any], real: dict[str, Any]) -> None:
    worst = row["worst_boundary"]
    assert worst["phase"] in {"forward", "backward", "step", "zero"}
    assert row["far_boundaries"] == []
    assert abs(worst["difference"]) <= max(0.001 * worst["real"], 2 * MIB)
    assert len(real["boundaries"]) > worst["number"]
