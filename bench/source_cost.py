"""What source lines cost: tracked over untracked training steps, memray beside us where it is there.

    python bench/source_cost.py [--pairs 21] [--layers 4] [--small | --large]

The steps and the way of measuring are those of tracker_cost.py: pairs of a run without and one with
the tracker, medians of their ratios. "Track" is tidemark.track as it comes; "source" the same with
source=True: operator, shape and line of every birth; "memray" its Tracker as it comes, which knows the
Python stack of every allocation of the process, and neither operators nor tensors.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tracker_cost import empty_hooks, measure, timed

import tidemark


def timed_with_memray(step: Callable[[], None], _: Any, count: int) -> float:
    """It can be entered once, so each pair has its own."""
    import memray

    with tempfile.TemporaryDirectory() as folder, memray.Tracker(Path(folder) / "run.bin"):
        step()
        begin = time.perf_counter()
        for _ in range(count):
            step()
        return (time.perf_counter() - begin) / count


def has_memray() -> bool:
    try:
        import memray  # noqa: F401
    except ImportError:
        return False
    return True


def show(size: tuple[int, int, int, int], baseline: Any, pairs: int) -> None:
    track = measure(size, baseline, tidemark.track, timed, pairs)
    source = measure(size, baseline, functools.partial(tidemark.track, source=True), timed, pairs)
    line = f"{size[1]:5d} {track.modules:8d} {track.ratio():9.3f} {source.ratio():9.3f}"
    if has_memray():
        theirs = measure(size, baseline, lambda *_: None, timed_with_memray, pairs)
        line += f" {theirs.ratio():9.3f}"
    else:
        line += "   (pip install memray)"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("--layers", type=int, nargs="*", default=[4])
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--small", action="store_true", help="only the small steps")
    sizes.add_argument("--large", action="store_true", help="only the large steps")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("width  modules     track    source    memray")
    for layers in options.layers:
        if not options.large:
            show((layers, 64, 2, 16), empty_hooks, options.pairs)
        if not options.small:
            show((layers, 512, 8, 128), contextlib.nullcontext, options.pairs)


if __name__ == "__main__":
    main()
