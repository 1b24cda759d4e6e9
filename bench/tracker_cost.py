"""What a tracker costs: tracked over untracked training steps, PyTorch's tracker beside ours.

    python bench/tracker_cost.py [--pairs 31] [--layers 4 16 48] [--small | --large]
                                 [--threads 1] [--no-pytorch]

Large steps (width 512, 8x128 tokens) are compared with the plain program; small ones (width 64,
2x16 tokens) with the same program under empty global module hooks, which every tracker needs.
A pair is a run of steps without and one with the tracker, five small steps or one large one, each
after a step that warms it up (hooks are put on once, not every step); figures are medians of the
pairs' ratios, since machines change their speed from second to second. "Track" is tidemark.track as
it comes, writing its tape; MemTracker writes none, but keeps snapshots of every module call and
tells what lives only inside operators apart.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

import tidemark
from tidemark.compat.mem_tracker import MemTracker


def make_step(layers: int, width: int, batch: int, tokens: int) -> tuple[Any, Any, Any, Callable[[], None]]:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    x = torch.randn(batch, tokens, width)

    def step() -> None:
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return model, optimizer, x, step


@contextlib.contextmanager
def empty_hooks() -> Any:
    handles = [
        register_module_forward_pre_hook(lambda module, inputs: None),
        register_module_forward_hook(lambda module, inputs, outputs: None, always_call=True),
    ]
    yield
    for handle in handles:
        handle.remove()


def timed(step: Callable[[], None], context: Any, count: int) -> float:
    with context:
        step()
        begin = time.perf_counter()
        for _ in range(count):
            step()
        return (time.perf_counter() - begin) / count


def timed_with_reset(step: Callable[[], None], tracker: Any, _: int) -> float:
    """PyTorch's tracker refuses a second iteration unless it forgets the first."""
    with tracker:
        step()
        tracker.reset_mod_stats()
        begin = time.perf_counter()
        step()
        duration = time.perf_counter() - begin
        tracker.reset_mod_stats()
        return duration


def timed_then_reset(step: Callable[[], None], tracker: Any, count: int) -> float:
    """Our MemTracker needs no reset; it forgets only to stay as small as PyTorch's."""
    duration = timed(step, tracker, count)
    tracker.reset_mod_stats()
    return duration


class Pairs:
    """The durations of a tracked and an untracked step, in turn, of a model of so many modules."""

    def __init__(self, model: nn.Module) -> None:
        self.modules = sum(1 for one in model.modules() if not isinstance(one, nn.ModuleList))
        self.plain: list[float] = []
        self.tracked: list[float] = []

    def ratio(self) -> float:
        return statistics.median(b / a for a, b in zip(self.plain, self.tracked, strict=True))


def measure(size: tuple[int, int, int, int], baseline: Any, make_tracker: Callable[..., Any],
            run: Callable[..., float], count: int) -> Pairs:
    model, optimizer, x, step = make_step(*size)
    tracker = make_tracker(model, optimizer, x)
    pairs = Pairs(model)
    steps = 5 if size[1] < 512 else 1
    for number in range(count + 1):
        plain, tracked = timed(step, baseline(), steps), run(step, tracker, steps)
        if number > 0:  # the first one warms up
            pairs.plain.append(plain)
            pairs.tracked.append(tracked)
    return pairs


def make_drop_in(*external: Any) -> Any:
    tracker = MemTracker()
    tracker.track_external(*external)
    return tracker


def make_pytorchs(*external: Any) -> Any:
    from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker

    tracker = TorchMemTracker()
    tracker.track_external(*external)
    return tracker


def show(size: tuple[int, int, int, int], baseline: Any, count: int, pytorch: bool) -> None:
    drop_in = measure(size, baseline, make_drop_in, timed_then_reset, count)
    track = measure(size, baseline, tidemark.track, timed, count)
    line = (f"{size[1]:5d} {track.modules:8d} {statistics.median(track.plain) * 1e3:9.1f} ms"
            f" {drop_in.ratio():11.3f} {track.ratio():14.3f}")
    if pytorch:
        theirs = measure(size, contextlib.nullcontext, make_pytorchs, timed_with_reset,
                         max(3, count // 10))
        line += f" {theirs.ratio():15.1f}"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--layers", type=int, nargs="*", default=[4, 16, 48])
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--small", action="store_true", help="only the small steps")
    sizes.add_argument("--large", action="store_true", help="only the large steps")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch's kernels (default 1)")
    parser.add_argument("--no-pytorch", dest="pytorch", action="store_false")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("width  modules     baseline  MemTracker         track  PyTorch's tracker")
    for layers in options.layers if not options.large else []:
        show((layers, 64, 2, 16), empty_hooks, options.pairs, options.pytorch)
    for layers in options.layers if not options.small else []:
        show((layers, 512, 8, 128), contextlib.nullcontext, options.pairs, options.pytorch)


if __name__ == "__main__":
    main()
