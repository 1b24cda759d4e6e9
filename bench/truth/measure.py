"""Measures the runs on a real GPU, each in a process of its own, into one file.

    python bench/truth/measure.py --out tests/golden/gpu/h200-torch2.11.json [--list LIST] [--only NAME ...] [--jobs N]

The file is written after every run; runs that it has already are kept unless they are measured again.
With more than one job at a time nobody can say whose the device's memory in use is: it is left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from boundaries import told_in
from run_list import add_choice, chosen, script_of

BOUNDARIES = str(Path(__file__).resolve().parent / "boundaries.py")
OF_THE_DEVICE = ("in_use_at_end", "context")


class WrongMachine(Exception):
    """The file holds runs of another GPU, driver or torch."""


def asked_driver(what: str) -> str:
    done = subprocess.run(["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0].strip()


def measured(name: str, limit_s: float) -> dict[str, Any]:
    """What boundaries.py told, or why it did not."""
    began = time.monotonic()
    try:
        done = subprocess.run([sys.executable, BOUNDARIES, str(script_of(name))], capture_output=True,
                              text=True, check=False, timeout=limit_s)
        if done.returncode != 0:
            return {"error": f"exit code {done.returncode}: {done.stderr[-1500:]}"}
        row = told_in(done.stdout)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {limit_s:.0f} s"}
    except ValueError as error:
        return {"error": str(error)}
    return {**row, "seconds": round(time.monotonic() - began, 1)}


class GoldenFile:
    """Machine and runs; one run a line."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, Lock()
        told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.machine: dict[str, Any] = told.get("machine", {})
        self.runs: dict[str, Any] = told.get("runs", {})

    def put(self, name: str, row: dict[str, Any], machine: dict[str, Any]) -> None:
        with self.lock:
            if self.machine and self.machine != machine:
                raise WrongMachine(f"{self.path} is of {self.machine}, this is {machine}")
            self.machine, self.runs[name] = machine, row
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in self.runs.items())
        return f'{{"machine": {json.dumps(self.machine)},\n"runs": {{\n{rows}\n}}}}\n'


def measure(name: str, golden: GoldenFile, driver: str, arguments: argparse.Namespace) -> bool:
    in_use_mib = asked_driver("memory.used")
    row = measured(name, arguments.limit)
    if "error" in row:
        print(f"{name:28} FAILED  {row['error']}", flush=True)
        return False
    machine = {**row.pop("machine"), "driver": driver}
    if arguments.jobs > 1:
        row = {key: value for key, value in row.items() if key not in OF_THE_DEVICE}
    else:
        row["in_use_before_mib"] = int(in_use_mib)
    golden.put(name, row, machine)
    print(f"{name:28} peak {row['peak_allocated'] / 2**20:9.1f} MiB  reserved "
          f"{row['peak_reserved'] / 2**20:9.1f} MiB  {row['seconds']:5.1f} s", flush=True)
    return True


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the file to write, or to add to")
    add_choice(parser)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, 1 by default")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a run may take, 120 by default")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    names, golden, driver = chosen(arguments), GoldenFile(arguments.out), asked_driver("driver_version")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        went = list(pool.map(lambda name: measure(name, golden, driver, arguments), names))
    print(f"{sum(went)} of {len(names)} measured", flush=True)
    return 0 if all(went) else 1


if __name__ == "__main__":
    sys.exit(main())
