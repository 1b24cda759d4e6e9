"""How fast `tidemark estimate` is: beside PyTorch's FakeTensorMode and MemTracker, and end to end.

    python bench/estimate_speed.py [--layers 48] [--rounds 5] [--no-tracker]

Each way trains the same model for three steps in a process of its own; ours with --save, source
lines and known values, as users run it. The ways take turns; medians over the rounds. PyTorch's
tracker runs once, in the middle, since it takes minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ESTIMATE = [sys.executable, "-m", "tidemark", "estimate", "--quiet"]


def run(command: list[str], pass_fds: tuple[int, ...] = ()) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=pass_fds)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    return done.stdout


def ours(folder: Path, layers: int) -> tuple[list[float], int]:
    """Seconds of the steps, and operators a step."""
    seconds, script_end = os.pipe()  # a file that the script writes is held back
    told = run([*ESTIMATE, "--json", "--steps", "0", "--save", str(folder / "run.tape"),
                str(HERE / "deep_gpt.py"), f"/dev/fd/{script_end}", "--layers", str(layers)],
               pass_fds=(script_end,))
    os.close(script_end)
    with open(seconds) as file:
        steps = json.load(file)
    return steps, json.loads(told)["run"]["ops"] // len(steps)


def theirs(folder: Path, layers: int, *flags: str) -> list[float]:
    seconds = folder / "theirs.json"
    run([sys.executable, str(HERE / "fake_steps.py"), *flags, str(seconds), "--layers", str(layers)])
    steps: list[float] = json.loads(seconds.read_text())
    return steps


def row(name: str, first: float, third: float, ops: int, base: tuple[float, float]) -> None:
    print(f"  {name:<30}{first:>9.3f} s{third:>9.3f} s{1e6 * third / ops:>10.1f}"
          f"{first / base[0]:>10.1f}x{third / base[1]:>9.1f}x")


def compare_steps(layers: int, rounds: int, tracker: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mine, fake, tracked = [], [], []
        for turn in range(rounds):
            steps, ops = ours(folder, layers)
            mine.append(steps)
            fake.append(theirs(folder, layers))
            if tracker and turn == rounds // 2:
                tracked.append(theirs(folder, layers, "--tracker"))

    def medians(runs: list[list[float]]) -> tuple[float, float]:
        return (statistics.median(r[0] for r in runs), statistics.median(r[2] for r in runs))

    base = medians(mine)
    print(f"{layers}-layer GPT, one training step, about {ops} operators, median of {rounds}\n")
    print(f"  {'':<30}{'first':>11}{'third':>11}{'us an op':>10}{'first':>11}{'third':>10}")
    row("tidemark estimate --save", *base, ops, base)
    row("FakeTensorMode", *medians(fake), ops, base)
    if tracked:
        row("FakeTensorMode + MemTracker", *medians(tracked), ops, base)


def end_to_end() -> None:
    print("\nLlama 3 8B shapes, AdamW, process start to report\n")
    for way in ("cuda", "moved", "transformers"):
        start = time.perf_counter()
        child = subprocess.Popen([*ESTIMATE, "--json", str(HERE / "llama_8b.py"), way],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert child.stdout is not None
        told = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if child.returncode == 2:
            print(f"  {way:<14}did not run: {json.loads(told)['judgement']['reason']}")
            continue
        peak = json.loads(told)["peak"]["devices"][0]["allocated_bytes"]
        ram = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(f"  {way:<14}{seconds:>7.1f} s{ram / 2**30:>8.2f} GiB of RAM, "
              f"peak {peak / 2**30:.2f} GiB on the GPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-tracker", dest="tracker", action="store_false")
    options = parser.parse_args()
    compare_steps(options.layers, options.rounds, options.tracker)
    end_to_end()


if __name__ == "__main__":
    main()
