"""Five of the scripts at a size above 2 GiB, on a real GPU and estimated: run it where there is one.

    python tests/wild/on_gpu.py > on_gpu.json

`real` is torch.cuda.max_memory_allocated() at the script's end; `estimated` are the estimate's tensors
and library workspaces, which are in that number too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent / "scripts"
SCALES = {"nanogpt": 8, "timm_mixup": 8, "diffusion": 12, "lstm_bptt": 24, "recommender": 192}
PARTS_THE_ALLOCATOR_SEES = ("tensors", "library workspaces")

PLAIN_RUN = """
import runpy, sys, torch
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print("REAL", torch.cuda.max_memory_allocated())
"""


def run(command: list[str], scale: int, **variables: str) -> str:
    """What the command prints, in a folder of its own; its last words where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=False, cwd=folder,
            env={**os.environ, "WILD_SCALE": str(scale), **variables})
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def real_bytes(script: str, scale: int) -> int:
    lines = run(["-c", PLAIN_RUN, script], scale).splitlines()
    return int(lines[-1].removeprefix("REAL "))


def estimated_bytes(script: str, scale: int) -> int:
    command = ["-m", "tidemark", "estimate", "--json", "--gpu", "h200", "--steps", "0", script]
    return bytes_seen(json.loads(run(command, scale, CUDA_VISIBLE_DEVICES="")))


def bytes_seen(report: dict[str, Any]) -> int:
    """What the allocator would count, of an estimate's report."""
    return sum(part["bytes"] for part in report["judgement"]["budget"]
               if part["name"] in PARTS_THE_ALLOCATOR_SEES)


def compare(name: str, scale: int) -> dict[str, Any]:
    script = str(SCRIPTS / f"{name}.py")
    real, estimated = real_bytes(script, scale), estimated_bytes(script, scale)
    return {"script": name, "real": real, "estimated": estimated, "ratio": round(estimated / real, 4)}


def main() -> int:
    failures = 0
    for name, scale in SCALES.items():
        try:
            print(json.dumps(compare(name, scale)), flush=True)
        except RuntimeError as error:
            failures += 1
            print(json.dumps({"script": name, "error": str(error)}), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
