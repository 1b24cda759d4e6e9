"""How far a real GPU is from itself: one run again and again, and under other seeds. Run it where there is a GPU.

    python bench/truth/spread.py NAME ... --out tests/golden/gpu/spread-h200-torch2.11.json [--seeds 8] [--again 4]

Where values decide how large tensors are, an estimate can be no nearer than one seed is to the next. The
run's own seed, 0, is measured `--again` times, each other seed once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from boundaries import told_in
from measure import BOUNDARIES, asked_driver
from run_list import script_of

OWN_SEED = "manual_seed(0)"
KEPT = ("peak_allocated", "peak_reserved", "peak_requested", "boundaries")


def measured(name: str, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"{name}.py"
        text = script_of(name).read_text(encoding="utf-8")
        if OWN_SEED not in text:
            raise SystemExit(f"{name} has no {OWN_SEED}")
        script.write_text(text.replace(OWN_SEED, f"manual_seed({seed})"), encoding="utf-8")
        done = subprocess.run([sys.executable, BOUNDARIES, str(script)], capture_output=True, text=True,
                              check=True, timeout=300)
    return told_in(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="runs (run_list.py)")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--seeds", type=int, default=8, help="seeds from 0 on, 8 by default")
    parser.add_argument("--again", type=int, default=4, help="how often seed 0 is measured, 4 times by default")
    arguments = parser.parse_args()
    machine: dict[str, Any] = {}
    runs: dict[str, list[dict[str, Any]]] = {}
    for name in arguments.names:
        rows = runs[name] = []
        for seed in [0] * arguments.again + list(range(1, arguments.seeds)):
            told = measured(name, seed)
            machine = {**told["machine"], "driver": asked_driver("driver_version")}
            rows.append({"seed": seed, **{key: told[key] for key in KEPT}})
            print(name, seed, told["peak_allocated"], flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]"
                       for name, rows in runs.items())
    arguments.out.write_text(f'{{"machine": {json.dumps(machine)},\n"runs": {{\n{lines}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
