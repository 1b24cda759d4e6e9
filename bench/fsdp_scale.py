"""How long Llama shapes over many ranks take to estimate, process start to report, and how much memory.

    python bench/fsdp_scale.py

bf16 parameters, AdamW, activation checkpointing, a sequence of 8 192 a rank. The largest
model is also estimated as another rank, and over 8 ranks: what the others cost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = str(Path(__file__).resolve().parents[1] / "examples" / "train_llama_fsdp.py")
JOBS = [("8B", 8, 0), ("70B", 64, 0), ("405B", 1024, 0), ("405B", 1024, 517), ("405B", 8, 0)]


def measure(size: str, ranks: int, rank: int) -> tuple[float, int, dict[str, object]]:
    """Seconds, bytes of this machine's memory, and the report."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "tidemark", "estimate", "--json", "--quiet", "--gpu", "h200", "--steps", "2",
         "--world-size", str(ranks), "--rank", str(rank), SCRIPT, "--size", size],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    told = json.load(process.stdout)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{size} over {ranks} ranks: nobody can tell")
    return time.perf_counter() - start, usage.ru_maxrss * 1024, told


def main() -> None:
    print(f"{'model':>6}{'ranks':>7}{'rank':>6}{'seconds':>9}{'RAM MiB':>9}{'operators':>11}  tensors of a rank")
    seconds = {}
    for size, ranks, rank in JOBS:
        taken, memory, told = measure(size, ranks, rank)
        seconds[size, ranks, rank] = taken
        tensors = told["judgement"]["tensor_bytes"] / 2**30  # type: ignore[index]
        print(f"{size:>6}{ranks:>7}{rank:>6}{taken:>9.1f}{memory / 2**20:>9.0f}"
              f"{told['run']['ops']:>11}  {tensors:.2f} GiB", flush=True)  # type: ignore[index]
    print(f"1 024 ranks over 8: {seconds['405B', 1024, 0] / seconds['405B', 8, 0]:.2f}")


if __name__ == "__main__":
    main()
