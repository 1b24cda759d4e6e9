"""PyTorch's overlap scheduler and bucketing passes with our estimator in the place of theirs."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "run_overlap_passes.py"


def results(which: str) -> list[dict]:
    done = subprocess.run([sys.executable, str(PROGRAM), which], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.partition("RESULT ")[2])


def test_the_passes_schedule_and_bucket_alike_on_ours() -> None:
    theirs, ours = results("theirs"), results("ours")
    assert ours == theirs
    assert len({tuple(run["nodes"]) for run in ours}) > 1  # the limits and switches did matter
    assert all(run["counters"]["rescheduled_mem"] > 0 for run in ours)
