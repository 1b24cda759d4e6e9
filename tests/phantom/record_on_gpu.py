"""Asks a real GPU all calls of the tests: python record_on_gpu.py FOLDER makes cuda_answers.json.

Needs torch and no more: copy tests/phantom and tests/support to a machine with a GPU and run it there;
the file then replaces the one in this folder. Several processes share the calls. One whose call breaks
the GPU's context, crashes or hangs is started again behind that call, which counts as lost.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import types
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

LOST = "?"
CONTEXT_LOST = 3
HANGS_AFTER_S = 120  # importing torch and its catalogue is part of it


def stand_in_for_expecttest() -> None:
    """PyTorch's catalogue imports it for the base class of its own tests, which nobody runs here."""
    try:
        import expecttest  # noqa: F401
    except ImportError:
        module: Any = types.ModuleType("expecttest")
        module.TestCase = unittest.TestCase
        sys.modules["expecttest"] = module


# One process: the calls of one part, a line each, written before and after it is asked.


def ask(call: Any, device: str) -> str:
    import torch
    from calls import Place, run
    from cuda_answers import CudaAnswer, answer_from, answer_text

    on_cpu = run(call, Place("cpu"))
    if on_cpu.error:
        return ""  # not even the CPU takes it: nobody compares
    on_gpu = run(call, Place(device))
    if device == "cuda":
        torch.cuda.synchronize()
    same = (on_gpu.results, on_gpu.arguments) == (on_cpu.results, on_cpu.arguments)
    text = answer_text(call, CudaAnswer(on_gpu, same))
    read = answer_from(call, text).outcome
    if not on_gpu.error and (read.results, read.arguments) != (on_gpu.results, on_gpu.arguments):
        raise ValueError(f"{call}: {text} does not say all of {on_gpu}")
    return text


def calls_of(part: int, parts: int) -> Iterator[Any]:
    stand_in_for_expecttest()
    from handmade_calls import handmade_calls
    from operator_samples import choose_calls

    if part == 0:
        yield from handmade_calls()
    yield from choose_calls(part, parts)


def work(part: int, parts: int, path: Path, device: str) -> int:
    from cuda_answers import key_of

    with path.open("a+") as file:
        file.seek(0)
        before = file.read()
        if before and not before.endswith("\n"):
            file.write(f"{LOST}\n")
        for call in islice(calls_of(part, parts), len(before.splitlines()), None):
            print(call.operator, key_of(call), "", sep="\t", end="", file=file, flush=True)
            try:
                text = ask(call, device)
            except RuntimeError:
                print(LOST, file=file)
                return CONTEXT_LOST
            print(text, file=file, flush=True)
    return 0


# The one that starts them.


def keep_working(part: int, wish: argparse.Namespace, path: Path, until: float) -> bool:
    """Whether all calls of the part were asked before that time."""
    words = [sys.executable, __file__, str(wish.folder), "--device", wish.device]
    words += ["--workers", str(wish.workers), "--part", str(part)]
    environment = {**os.environ, "TIDEMARK_OPERATOR_SHARE": str(wish.share)}
    while time.monotonic() < until:
        before = path.stat().st_size if path.exists() else 0
        process = subprocess.Popen(words, env=environment)
        if wait_for(process, path, until) == 0:
            return True
        if not path.exists() or path.stat().st_size == before:
            return False  # it cannot even begin
    return False


def wait_for(process: subprocess.Popen[bytes], path: Path, until: float) -> int:
    size, since = 0, time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        now = time.monotonic()
        if path.exists() and path.stat().st_size != size:
            size, since = path.stat().st_size, now
        if now > until or now - since > HANGS_AFTER_S:
            process.kill()
    return process.returncode


def machine_facts(device: str) -> dict[str, Any]:
    import torch

    gpu = torch.cuda.get_device_name() if device == "cuda" else "none"
    return {"gpu": gpu, "driver": driver_version(), "torch": torch.__version__,
            "cuda": torch.version.cuda, "cpu": platform.machine()}


def driver_version() -> str:
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"  # the answers are worth keeping all the same


def gather(lines: list[str]) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
    """Counts, and the answers by operator and key; of two answers to one key, neither."""
    counts = dict.fromkeys(("asked", "answered", "as_cpu", "refused", "lost", "contradicted"), 0)
    answers: dict[str, dict[str, str]] = {}
    for operator, key, text in (line.split("\t", 2) for line in sorted(set(lines))):
        if text and text != LOST:
            of_operator = answers.setdefault(operator, {})
            of_operator[key] = LOST if key in of_operator else text
    for operator, key, text in (line.split("\t", 2) for line in lines):
        kept = answers.get(operator, {}).get(key, text)
        counts["asked"] += bool(text)
        counts["lost"] += text == LOST
        counts["refused"] += kept.startswith("! ")
        counts["contradicted"] += text != LOST and kept == LOST
        counts["answered"] += bool(text) and kept != LOST and not kept.startswith("! ")
        counts["as_cpu"] += kept.startswith("= ")
    kept_answers = {
        operator: {key: text for key, text in sorted(of_operator.items()) if text != LOST}
        for operator, of_operator in sorted(answers.items())
    }
    return counts, kept_answers


def record(wish: argparse.Namespace) -> int:
    from cuda_answers import ANSWERS

    stand_in_for_expecttest()
    from operator_samples import SEED

    wish.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + wish.seconds
    parts = [part_file(wish, part) for part in range(wish.workers)]
    with ThreadPoolExecutor(wish.workers) as pool:
        done = list(pool.map(lambda i: keep_working(i, wish, parts[i], until), range(wish.workers)))
    lines = [line for path in parts if path.exists() for line in path.read_text().splitlines()]
    counts, answers = gather(lines)
    facts = {**machine_facts(wish.device), "seed": SEED, "finished": all(done), **counts}
    (wish.folder / ANSWERS.name).write_text(json.dumps({**facts, "answers": answers}, indent=1) + "\n")
    for path in parts:
        path.unlink(missing_ok=True)
    print(json.dumps(facts, indent=1))
    return 0 if all(done) else 1


def part_file(wish: argparse.Namespace, part: int) -> Path:
    return Path(wish.folder) / f"part_{part}.txt"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to put cuda_answers.json")
    parser.add_argument("--device", default="cuda", help="cpu tries the recording itself")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--share", type=int, default=1, help="ask one call in so many")
    parser.add_argument("--seconds", type=int, default=270, help="end by then, with what there is")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.part is None:
        return record(wish)
    return work(wish.part, wish.workers, part_file(wish, wish.part), wish.device)


if __name__ == "__main__":
    sys.exit(main())
