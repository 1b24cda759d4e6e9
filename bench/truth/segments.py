"""Writes down where the driver put each segment of the runs. Run it where there is a GPU, and g++.

    python bench/truth/segments.py --out tests/data/segments/h200-torch2.11.txt [--only NAME ...] [--jobs N]

A line is a run: +PAGES@PLACE where cudaMalloc answered, -PLACE where cudaFree was called. A page is 2 MiB, the
lowest place is 0. A library that is put before each program (segments_log.cpp) sees the calls.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from boundaries import told_in
from measure import BOUNDARIES, asked_driver
from run_list import FOLDER_OF, script_of

PAGE = 2 << 20
SOURCE = Path(__file__).resolve().parent / "segments_log.cpp"


def words(log: str) -> str:
    """What the library wrote, counted from the lowest address."""
    calls = [line.split() for line in log.splitlines()]
    lowest = min(int(address, 16) for _, address, _ in calls)
    places = [(what, (int(address, 16) - lowest) // PAGE, -(-int(size) // PAGE)) for what, address, size in calls]
    return " ".join(f"+{pages}@{place}" if what == "+" else f"-{place}" for what, place, pages in places)


def recorded(name: str, library: Path) -> tuple[str, str]:
    """Of one run, in a process of its own: the machine, and its line."""
    log = library.parent / f"{name}.log"
    done = subprocess.run([sys.executable, BOUNDARIES, str(script_of(name))], capture_output=True, text=True,
                          check=True, timeout=300,
                          env={**os.environ, "LD_PRELOAD": str(library), "SEGMENTS_LOG": str(log)})
    machine = told_in(done.stdout)["machine"]
    line = words(log.read_text(encoding="utf-8"))
    print(f"{name}: {len(line.split())} segments came or went", flush=True)
    return f"{machine['gpu']}, torch {machine['torch']}", f"{name} {line}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=sorted(FOLDER_OF), help="these runs alone")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, 1 by default")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "segments_log.so"
        subprocess.run(["g++", "-O1", "-shared", "-fPIC", str(SOURCE), "-o", str(library), "-ldl"], check=True)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            told = list(pool.map(lambda name: recorded(name, library), arguments.only))
    (machine,) = {of for of, _ in told}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(f"# {machine}, driver {asked_driver('driver_version')}\n"
                             + "".join(f"{line}\n" for _, line in told), encoding="utf-8")


if __name__ == "__main__":
    main()
