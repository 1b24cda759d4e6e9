"""FSDP2 on one real GPU as rank 0 of 64: the allocator's peak, the recorded one and the estimate.

    python bench/fsdp_on_gpu.py > fsdp_on_gpu.json

`estimated` are the estimate's tensors and library workspaces; `recorded` is what `tidemark record` heard
in a run of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gpu_machine import machine

HERE = Path(__file__).resolve().parent
SCRIPT = str(HERE.parent / "examples" / "train_llama_fsdp.py")
ALONE = str(HERE / "fake_ranks.py")
RANKS = 64
AT_ONCE = 4  # peaks do not depend on who else uses the GPU
ARGUMENTS = ["--size", "1B", "--length", "4096", "--steps", "3"]
WAYS: dict[str, list[str]] = {
    "reshard, checkpoint": [],
    "no reshard": ["--no-reshard"],
    "no checkpoint": ["--no-checkpoint"],
    "no reshard, no checkpoint": ["--no-reshard", "--no-checkpoint"],
    "mixed precision": ["--mixed-precision"],
    "mixed precision, no reshard": ["--mixed-precision", "--no-reshard"],
    "offload": ["--offload"],
    "two replicas": ["--replicas", "2"],
    "tensor parallel 8": ["--tensor-parallel", "8"],
    "fused optimizer": ["--fused"],
}
PARTS_THE_ALLOCATOR_SEES = ("tensors", "library workspaces")


def run(*command: str, **variables: str) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-1500:]}")
    return done.stdout if done.stdout else done.stderr


def peak_in(text: str) -> int:
    return int(next(line for line in text.splitlines() if line.startswith("REAL")).split()[1])


def real_bytes(flags: list[str]) -> int:
    return peak_in(run(ALONE, str(RANKS), SCRIPT, *ARGUMENTS, *flags))


def recorded_bytes(flags: list[str]) -> int:
    told = json.loads(run("-m", "tidemark", "record", "--json", ALONE, str(RANKS), SCRIPT,
                          *ARGUMENTS, *flags))
    return int(next(one["allocated_bytes"] for one in told["peak"]["devices"]
                    if one["device"] == "cuda:0"))


def estimated(flags: list[str]) -> tuple[int, dict[str, int]]:
    told = json.loads(run("-m", "tidemark", "estimate", "--json", "--quiet", "--gpu", "h200", "--world-size",
                          str(RANKS), "--steps", "0", SCRIPT, *ARGUMENTS, *flags, CUDA_VISIBLE_DEVICES=""))
    device = next(one for one in told["peak"]["devices"] if one["device"] == "cuda:0")
    return sum(part["bytes"] for part in told["judgement"]["budget"]
               if part["name"] in PARTS_THE_ALLOCATOR_SEES), device["categories"]


def compare(name: str, flags: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"way": name, "flags": flags}
    try:
        row["real"] = real_bytes(flags)
        row["estimated"], row["categories"] = estimated(flags)
        row["recorded"] = recorded_bytes(flags)
        row["estimated_ratio"] = round(row["estimated"] / row["real"], 5)
        row["recorded_ratio"] = round(row["recorded"] / row["real"], 5)
    except (RuntimeError, StopIteration, ValueError, KeyError) as error:
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def main() -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(lambda way: compare(*way), WAYS.items()))
    print(json.dumps(machine() | {"ranks": RANKS, "arguments": ARGUMENTS, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
