"""Two real ranks on one GPU beside the estimate of rank 0, and PyTorch's trackers beside ours there.

    python bench/two_ranks_on_gpu.py > two_ranks.json

bench/two_ranks.py is the program, run as it is in both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fsdp_on_gpu import AT_ONCE
from gpu_machine import machine

PROGRAM = str(Path(__file__).resolve().parent / "two_ranks.py")


def run(*command: str, **variables: str) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=180,
                          env={**os.environ, **variables})
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-1500:]}")
    return done.stdout


def ranks(*arguments: str) -> list[dict[str, Any]]:
    """What each rank told, the first one first."""
    lines = run(PROGRAM, *arguments).splitlines()
    told = [json.loads(line.removeprefix("RANK ")) for line in lines if line.startswith("RANK ")]
    return sorted(told, key=lambda one: one["rank"])


def estimated(way: str) -> int:
    """What torch.cuda.max_memory_allocated() will say on rank 0."""
    told = json.loads(run("-m", "tidemark", "estimate", "--json", "--quiet", "--gpu", "h200", "--steps", "0",
                          PROGRAM, way, CUDA_VISIBLE_DEVICES=""))
    return int(told["judgement"]["max_allocated_bytes"])


def compare(way: str) -> dict[str, Any]:
    row: dict[str, Any] = {"way": way}
    try:
        row["real"] = [one["real"] for one in ranks(way)]
        row["estimated"] = estimated(way)
        row["estimated_ratio"] = round(row["estimated"] / row["real"][0], 5)
        row["trackers"] = ranks(way, "--trackers")[0]
    except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError, IndexError) as error:
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def main() -> None:
    from two_ranks import WAYS

    with ThreadPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(compare, WAYS))
    print(json.dumps({"machine": machine(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
