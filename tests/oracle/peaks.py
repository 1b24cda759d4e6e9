"""The peak of one script by two ways: PyTorch's tracker over fake tensors, and ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from forked_commands import run_command

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"


def answer_of(*command: object) -> dict:
    """Runs Python with these arguments and returns the JSON it prints."""
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def pytorch_peak(script: str, *arguments: str, world_size: int = 1) -> int:
    answer = answer_of(HERE / "fake_peak.py", world_size, EXAMPLES / script, *arguments)
    return answer["peak_bytes"]


def our_peak(script: str, *arguments: str, world_size: int = 1, under_mode: bool = False) -> int:
    wrapper = [HERE / "under_mode.py"] if under_mode else []
    done = run_command("estimate", "--json", "--no-cuda-choices", "--steps", 0, "--world-size", world_size,
                       *wrapper, EXAMPLES / script, *arguments, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    answer = json.loads(done.stdout)
    (device,) = (one for one in answer["peak"]["devices"] if one["device"].startswith("cuda"))
    return device["allocated_bytes"]
