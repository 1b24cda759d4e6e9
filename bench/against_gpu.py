"""Estimates of the example scripts beside what a real GPU needs: run it where there is one.

    python bench/against_gpu.py > against_gpu.json
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from gpu_machine import machine

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# Need several processes.
LEFT_OUT = {"train_ddp", "train_llama_fsdp"}

REAL = """
import runpy, sys, torch
sys.argv = [{script!r}, "--steps", "2"]
runpy.run_path({script!r}, run_name="__main__")
print("REAL", torch.cuda.max_memory_allocated())
"""


def estimated_bytes(script: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "estimate", "--json", str(script)],
        capture_output=True, text=True, check=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    return int(json.loads(done.stdout)["judgement"]["max_allocated_bytes"])


def real_bytes(script: Path) -> int:
    done = subprocess.run([sys.executable, "-c", REAL.format(script=str(script))],
                          capture_output=True, text=True, check=True)
    return int(next(line for line in done.stdout.splitlines() if line.startswith("REAL")).split()[1])


def main() -> None:
    rows = []
    for script in sorted(EXAMPLES.glob("train_*.py")):
        if script.stem not in LEFT_OUT:
            estimated, real = estimated_bytes(script), real_bytes(script)
            rows.append({"script": script.stem, "estimated_bytes": estimated, "real_bytes": real,
                         "missing_bytes": real - estimated})
    print(json.dumps(machine() | {"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
