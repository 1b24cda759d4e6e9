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
HELD_OUT = GOLDEN.with_name("h200-torch2.11-held-out.json")
STRANGERS = GOLDEN.with_name("h200-torch2.11-strangers.json")
LATECOMERS = GOLDEN.with_name("h200-torch2.11-latecomers.json")
SPREAD = GOLDEN.with_name("spread-h200-torch2.11.json")
REAL = json.loads(GOLDEN.read_text(encoding="utf-8"))
MIB = 2**20

# The others take longer, or are known to miss: bench/truth/tolerances.py says which, and why.
EXACT = "gru_packed"  # all of its blocks are as large as what is in them
TRIED = (EXACT, "tabular_mlp", "t5_small_fp32", "resnet50_fp32")
JUDGE = """
import json, sys
from tolerances import verdict_on
print(verdict_on(json.load(sys.stdin), sys.argv[1] == "whole"))
"""


def judged(*rows: dict[str, Any], of: str = "some") -> list[str]:
    """What `--check` says of such rows: nothing where all are inside."""
    done = subprocess.run([sys.executable, "-c", JUDGE, of], input=json.dumps(rows), capture_output=True, text=True,
                          cwd=TRUTH, check=True)
    return [line for line in done.stdout.splitlines() if line]


def row_with(errors: dict[str, float], *diagnostics: str) -> dict[str, Any]:
    kinds = ("allocated", "requested", "reserved", "in_use")
    told = {kind: {"error_percent": errors.get(kind, 0.0)} for kind in kinds}
    return {"run": "some_run", **told, "diagnostics": list(diagnostics)}


def compared(name: str, out: Path) -> tuple[int, str, dict[str, Any]]:
    """The command's exit code, what it printed, and what it found of the run."""
    done = subprocess.run(
        [sys.executable, str(TRUTH / "compare.py"), "--real", str(GOLDEN), "--check", "--out", str(out),
         "--only", name],
        capture_output=True, text=True, timeout=300, check=False)
    assert out.exists(), done.stderr
    (row,) = json.loads(out.read_text(encoding="utf-8"))["rows"]
    return done.returncode, done.stdout, row


@pytest.mark.parametrize(("kind", "inside", "outside"), [
    ("allocated", 0.5, 0.51), ("requested", -0.1, -0.11), ("reserved", -3.0, -3.01), ("in_use", 3.0, 3.01)])
def test_each_amount_has_a_tolerance(kind: str, inside: float, outside: float) -> None:
    assert judged(row_with({kind: inside})) == []
    (problem,) = judged(row_with({kind: outside}))
    assert f"{outside:+.2f} %" in problem


def test_no_estimate_is_too_low_in_silence() -> None:
    low = {"allocated": -0.26}
    assert judged(row_with({"allocated": -0.25})) == judged(row_with(low, "calibration")) == []
    for unexplained in ((), ("assumed-value",)):
        (problem,) = judged(row_with(low, *unexplained))
        assert "0.26 % too low" in problem


def test_the_mean_is_that_of_a_whole_list() -> None:
    near, far = row_with({"allocated": 0.0}), row_with({"allocated": -0.5}, "calibration")
    assert judged(near, far) == judged(near, near, far, of="whole") == []
    (problem,) = judged(near, far, of="whole")
    assert "0.25 % off on average" in problem


@pytest.mark.parametrize(("folder", "golden"), [
    ("runs", GOLDEN), ("held_out", HELD_OUT), ("strangers", STRANGERS), ("latecomers", LATECOMERS)])
def test_every_run_was_measured(folder: str, golden: Path) -> None:
    scripts = {path.stem for path in (TRUTH / folder).glob("*.py")}
    real = json.loads(golden.read_text(encoding="utf-8"))
    assert set(real["runs"]) == scripts
    assert {"gpu", "driver", "torch", "cudnn"} <= set(real["machine"])


def of_another_list(real: Path, of_list: str, name: str, out: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """What `--check` complained of, and what it found of the run."""
    done = subprocess.run(
        [sys.executable, str(TRUTH / "compare.py"), "--real", str(real), "--list", of_list, "--only", name,
         "--check", "--out", str(out), *options],
        capture_output=True, text=True, timeout=300, check=False)
    assert out.exists(), done.stderr
    (row,) = json.loads(out.read_text(encoding="utf-8"))["rows"]
    return done.stdout if done.returncode else "", row


@pytest.mark.usefixtures("library_workspaces")
def test_a_held_out_run_peaks_where_a_real_gpu_does(tmp_path: Path) -> None:
    """By rules alone, of a script that no rule has seen."""
    problems, row = of_another_list(HELD_OUT, "held_out", "seq2seq_rmsnorm_gqa", tmp_path / "row.json",
                                    "--calibration", "none")
    assert row["allocated"]["error_percent"] == pytest.approx(0.0, abs=1.0)
    assert row["in_use"]["error_percent"] == pytest.approx(0.0, abs=3.0)
    assert row["diagnostics"].count("calibration") == 1
    assert not problems


@pytest.mark.usefixtures("library_workspaces")
@pytest.mark.parametrize("name", ["translate_attention_gru", "gcn_sparse", "pinn_double"])
def test_a_stranger_peaks_where_a_real_gpu_does(name: str, tmp_path: Path) -> None:
    """Cells of a recurrent net and products of a sparse matrix, mended because of these; LBFGS with a line search."""
    problems, row = of_another_list(STRANGERS, "strangers", name, tmp_path / "row.json")
    assert row["allocated"]["error_percent"] == pytest.approx(0.0, abs=0.1)
    assert len(row["boundaries"]) > 5
    assert not problems


@pytest.mark.usefixtures("library_workspaces")
@pytest.mark.parametrize("name", ["nested_documents", "gated_linear_attention", "normalizing_flow", "video_r2plus1d_bf16"])
def test_a_latecomer_peaks_where_a_real_gpu_does(name: str, tmp_path: Path) -> None:
    """Jagged attention, logsigmoid's buffer, solved systems and batch norm of volumes, mended because of these."""
    _, row = of_another_list(LATECOMERS, "latecomers", name, tmp_path / "row.json")
    assert row["allocated"]["error_percent"] == pytest.approx(0.0, abs=0.15)
    assert row["reserved"]["error_percent"] == pytest.approx(0.0, abs=3.0)
    assert len(row["boundaries"]) > 5


@pytest.mark.usefixtures("library_workspaces")
@pytest.mark.parametrize("name", TRIED)
def test_a_run_peaks_where_a_real_gpu_does(name: str, tmp_path: Path) -> None:
    code, told, row = compared(name, tmp_path / "row.json")
    real = REAL["runs"][name]
    assert row["allocated"]["estimate"] == pytest.approx(real["peak_allocated"], rel=0.01)
    assert row["requested"]["estimate"] == pytest.approx(real["peak_requested"], rel=0.001)
    assert row["reserved"]["estimate"] == pytest.approx(real["peak_reserved"], rel=0.03)
    assert row["in_use"]["estimate"] == pytest.approx(real["in_use_at_end"], rel=0.03)
    assert code == 0, told
    if name == EXACT:
        assert len(row["boundaries"]) > 8
        for phase, bytes_there, difference in row["boundaries"]:
            assert abs(difference) <= max(0.001 * bytes_there, 2 * MIB), phase


def is_near(one: list[int], other: list[int]) -> bool:
    return all(abs(a - b) <= max(0.001 * b, 2 * MIB) for a, b in zip(one, other, strict=True))


@pytest.mark.usefixtures("library_workspaces")
def test_where_values_decide_an_estimate_is_near_a_real_run_of_some_seed(tmp_path: Path) -> None:
    """Nearer to all of them nobody can be: they are further from each other than an estimate may be."""
    code, told, row = compared("moe_token_choice", tmp_path / "row.json")
    assert code == 0, told
    estimate = [real + difference for _, real, difference in row["boundaries"]]
    runs = json.loads(SPREAD.read_text(encoding="utf-8"))["runs"]["moe_token_choice"]
    by_seed = {run["seed"]: [held for _, held, _ in run["boundaries"]][-len(estimate):] for run in runs}
    assert len(by_seed) == 8
    assert any(is_near(estimate, real) for real in by_seed.values())
    assert not all(is_near(one, other) for one in by_seed.values() for other in by_seed.values())
