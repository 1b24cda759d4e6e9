"""What PyTorch's allocator holds around CUDA graphs and memory pools, asked of a GPU, real or virtual.

    python tests/phantom/graph_questions.py --out graph_answers.json    # on a GPU; torch is all it needs
    python tests/phantom/graph_questions.py --virtual                   # the same on virtual GPUs
    python tests/phantom/graph_questions.py --compare graph_answers.json    # and where the two differ

Each program runs in a process of its own, from an allocator that holds nothing, and tells what is held
after each of its stages.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from graph_programs import PROGRAMS

FILE = Path(__file__).parent / "graph_answers.json"

Stages = list[dict[str, Any]]


def held(stage: str) -> dict[str, Any]:
    """What the allocator has now; `private` are the bytes of each private pool, in the order of their ids."""
    import torch

    torch.cuda.synchronize()
    segments = torch.cuda.memory_snapshot()
    private: dict[tuple[int, ...], int] = {}
    for segment in segments:
        pool = tuple(segment["segment_pool_id"])
        if any(pool):
            private[pool] = private.get(pool, 0) + segment["total_size"]
    return {
        "stage": stage,
        "allocated": torch.cuda.memory_allocated(),
        "max_allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.memory_reserved(),
        "max_reserved": torch.cuda.max_memory_reserved(),
        "segments": len(segments),
        "private": [private[pool] for pool in sorted(private)],
    }


def run(name: str) -> Stages:
    stages: Stages = []
    {program.__name__: program for program in PROGRAMS}[name](lambda stage: stages.append(held(stage)))
    return stages


def run_virtually(name: str) -> Stages:
    from tidemark.gpus import CATALOGUE
    from tidemark.virtual_cuda import load, open_gpus

    load()
    open_gpus(CATALOGUE["h200"], 1)
    return run(name)


def ask(name: str, virtual: bool) -> Stages:
    """In a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--program", name]
    done = subprocess.run([*command, "--virtual"] if virtual else command, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    if done.returncode != 0:
        return [{"stage": "failed", "error": done.stderr.strip().splitlines()[-1]}]
    stages: Stages = json.loads(done.stdout.splitlines()[-1])
    return stages


def machine() -> dict[str, str]:
    import torch

    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout.split()[0]
    return {"gpu": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__}


def as_text(facts: dict[str, Any], programs: dict[str, Stages]) -> str:
    rows = ",\n".join(f'  "{name}": [\n   ' + ",\n   ".join(map(json.dumps, stages)) + "\n  ]"
                      for name, stages in programs.items())
    return json.dumps(facts, indent=1).removesuffix("\n}") + f',\n "programs": {{\n{rows}\n }}\n}}\n'


def compare(real: dict[str, Stages]) -> int:
    """Asks a virtual GPU the same and prints what it answers otherwise; returns how many numbers differ."""
    differ = asked = 0
    for name, stages in real.items():
        for one, other in zip(stages, ask(name, virtual=True), strict=False):
            for key in one.keys() - {"stage"}:
                asked += 1
                if one[key] != other.get(key):
                    differ += 1
                    print(f"{name}, {one['stage']}: {key} is {one[key]}, virtually {other.get(key)}")
    print(f"{differ} of {asked} numbers differ")
    return differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, help="the file to write; standard output without it")
    parser.add_argument("--virtual", action="store_true", help="ask a virtual H200")
    parser.add_argument("--program", choices=[program.__name__ for program in PROGRAMS],
                        help="this one alone, in this process; its stages are the last line")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="with what a GPU answered")
    asked = parser.parse_args()
    if asked.compare:
        return min(compare(json.loads(asked.compare.read_text())["programs"]), 1)
    if asked.program:
        print(json.dumps(run_virtually(asked.program) if asked.virtual else run(asked.program)))
        return 0
    programs = {program.__name__: ask(program.__name__, asked.virtual) for program in PROGRAMS}
    text = as_text({"gpu": "virtual H200"} if asked.virtual else machine(), programs)
    if asked.out:
        asked.out.write_text(text)
    else:
        print(text, end="")
    failed = [name for name, stages in programs.items() if "error" in stages[-1]]
    for name in failed:
        print(f"{name}: {programs[name][-1]['error']}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
