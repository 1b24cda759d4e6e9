"""A tape that was recorded on a real GPU has the peak that torch.cuda counted there, to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tidemark
from tidemark.recording import gpu_counts

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "data" / "recorded"
GOLDEN = ROOT / "tests" / "golden" / "gpu"
RECORDED = json.loads((GOLDEN / "recorded-h200-torch2.11.json").read_text(encoding="utf-8"))
UNRECORDED = json.loads((GOLDEN / "h200-torch2.11.json").read_text(encoding="utf-8"))
MIB = 2**20


def test_the_peak_of_a_recorded_tape_is_what_torch_counted() -> None:
    counted = json.loads((SMALL / "small.json").read_text(encoding="utf-8"))
    tape = tidemark.open(SMALL / "small.txt")
    facts = tape.report().to_dict()
    device = next(one for one in facts["peak"]["devices"] if one["device"] == "cuda:0")
    assert device["allocated_bytes"] == counted["torch_allocated"]
    assert facts["judgement"]["max_allocated_bytes"] == counted["torch_allocated"]
    assert facts["judgement"]["max_reserved_bytes"] == counted["torch_reserved"]
    assert facts["diagnostics"] == []
    # Two threads multiply: a workspace of 32 MiB each, and one of 1 MiB for cuBLASLt.
    assert device["categories"]["Workspace"] == 65 * MIB
    budget = {part["name"]: part["bytes"] for part in facts["judgement"]["budget"]}
    assert budget["allocator's rounding"] == device["allocated_bytes"] - device["requested_bytes"] > 0
    assert "torch.cuda counted 122.22 MiB allocated" in " ".join(tape.report().to_text().split())


def test_without_its_blocks_the_tape_is_too_low() -> None:
    """The blocks are what makes the difference: 512 bytes alone do not."""
    lines = (SMALL / "small.txt").read_text(encoding="utf-8").splitlines()
    others = [line for line in lines if "block" not in line.split()[:2]]
    assert len(others) < len(lines)
    counted = json.loads((SMALL / "small.json").read_text(encoding="utf-8"))["torch_allocated"]
    rounded = tidemark.read_text("\n".join(others))
    peak = next(one for one in rounded.peak().devices if one.device == "cuda:0")
    assert counted - MIB < peak.allocated_bytes < counted


@pytest.mark.parametrize("row", RECORDED["rows"],
                         ids=lambda row: f"{row['run']}-{row['way']}-{row['settings'] or 'usual'}")
def test_recorded_runs_count_as_torch_did(row: dict[str, Any]) -> None:
    """And as it did in a process of its own, without a tracker."""
    assert row["tape_allocated"] == row["live_allocated"] == row["torch_allocated"]
    assert row["told_reserved"] == row["torch_reserved"]
    assert sum(row["categories"].values()) == row["tape_allocated"]
    assert row["notes"] == []
    if plain := UNRECORDED["runs"].get(row["run"]):
        assert row["torch_allocated"] == plain["peak_allocated"]
        assert row["torch_reserved"] == plain["peak_reserved"]


def test_a_tracking_inside_of_another_has_no_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Recorder:
        marks = {"cuda:0": (10, 20)}
        restarts = 0

        def restart_cuda_high_marks(self) -> None:
            self.restarts += 1

        def cuda_high_marks(self) -> dict[str, tuple[int, int]]:
            return self.marks

    recorder = Recorder()
    monkeypatch.setattr(gpu_counts, "_recorder", recorder)
    monkeypatch.setattr(gpu_counts, "_running", 0)
    outer, inner = gpu_counts.GpuCounts(), gpu_counts.GpuCounts()
    outer.start()
    inner.start()
    assert inner.stop() == {}
    assert outer.stop() == {"gpu.cuda:0.max_allocated_bytes": 10, "gpu.cuda:0.max_reserved_bytes": 20}
    outer.start()
    recorder.marks = {"cuda:0": (5, 30)}
    assert outer.stop() == {"gpu.cuda:0.max_allocated_bytes": 10, "gpu.cuda:0.max_reserved_bytes": 30}
    assert recorder.restarts == 2
