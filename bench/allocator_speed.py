"""How fast the model of the caching allocator is, beside the same rules in plain Python.

    python bench/allocator_speed.py [build/bench/bench/tidemark_allocator_bench]

Both follow recordings of real programs (tests/data/allocator), with default settings and one round
after the other, so that the cache is warm.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from plain_allocator import Block, PlainAllocator

ROOT = Path(__file__).resolve().parents[1]
RECORDINGS = ROOT / "tests" / "data" / "allocator"
NAMES = ("gpt_default", "conv_default", "random_default", "streams_default")


def steps_of(name: str) -> list[tuple[int, int, int]]:
    """Bytes and stream of a request, or 0, 0 and the number of the request that is freed."""
    words = (RECORDINGS / f"{name}.txt").read_text().split("\nevents\n")[1].split()
    steps: list[tuple[int, int, int]] = []
    alive: list[bool] = []
    for word in words:
        number = int(re.findall(r"\d+", word)[0]) if word != "E" else 0
        if word[0] == "+":
            stream = re.search(r"@(\d+)", word)
            steps.append((number, int(stream[1]) if stream else 0, 0))
            alive.append(True)
        elif word[0] in "-~":
            steps.append((0, 0, len(alive) - 1 - number))
            alive[len(alive) - 1 - number] = False
    return steps + [(0, 0, i) for i, is_alive in enumerate(alive) if is_alive]


def plain_events_a_second(name: str, rounds: int = 5) -> float:
    steps = steps_of(name)
    model = PlainAllocator()
    start = time.perf_counter()
    for _ in range(rounds):
        blocks: list[Block] = []
        for requested, stream, freed in steps:
            if requested:
                blocks.append(model.malloc(requested, stream))
            else:
                model.free(blocks[freed])
    return rounds * len(steps) / (time.perf_counter() - start)


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/bench/bench/tidemark_allocator_bench"
    print("The caching allocator's model, million requests and frees a second\n")
    print(f"  {'recording':<20}{'tidemark':>10}{'Python':>10}{'ratio':>8}")
    for name in NAMES:
        told = subprocess.run([program, RECORDINGS, name], capture_output=True, text=True, check=True)
        ours, plain = float(told.stdout.split()[1]), plain_events_a_second(name)
        print(f"  {name:<20}{ours / 1e6:>10.2f}{plain / 1e6:>10.2f}{ours / plain:>7.0f}x")


if __name__ == "__main__":
    main()
