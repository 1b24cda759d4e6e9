"""Peaks of scripts by two ways: PyTorch's tracker over fake tensors, and ours."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from forked_commands import run_command

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"


def pytorch_peaks(programs: Iterable[tuple[str, ...]]) -> list[int]:
    """Of all these in one process, each in a fork of it."""
    told = [json.dumps([str(EXAMPLES / script), *arguments]) for script, *arguments in programs]
    done = subprocess.run([sys.executable, str(HERE / "fake_peak.py"), *told], capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return [int(line) for line in done.stdout.splitlines()]


def our_peak(script: str, *arguments: str, under_mode: bool = False) -> int:
    wrapper = [HERE / "under_mode.py"] if under_mode else []
    done = run_command("estimate", "--json", "--no-cuda-choices", "--steps", 0, *wrapper, EXAMPLES / script,
                       *arguments, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    answer = json.loads(done.stdout)
    (device,) = (one for one in answer["peak"]["devices"] if one["device"].startswith("cuda"))
    return device["allocated_bytes"]
