"""What a tracker costs: tracked over untracked training steps, PyTorch's tracker beside ours.

    python bench/tracker_cost.py [--pairs 31] [--layers 4 16 48] [--small] [--no-pytorch]

Large steps (width 512, 8x128 tokens) are compared with the plain program; small ones (width 64,
2x16 tokens) with the same program under empty global module hooks, which every tracker needs.
Pairs are interleaved: a step of each, in turn, each after a step that warms it up (hooks are put
on once, not every step). The ratio is that of the medians. "Track" is tidemark.track as it comes,
writing its tape; MemTracker also follows the ends of operators.
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


def timed(step: Callable[[], None], context: Any) -> float:
    with context:
        step()
        begin = time.perf_counter()
        step()
        return time.perf_counter() - begin


def timed_with_reset(step: Callable[[], None], tracker: Any) -> float:
    """PyTorch's tracker refuses a second iteration unless it forgets the first."""
    with tracker:
        step()
        tracker.reset_mod_stats()
        begin = time.perf_counter()
        step()
        duration = time.perf_counter() - begin
        tracker.reset_mod_stats()
        return duration


def measure(size: tuple[int, int, int, int], baseline: Any, pairs: int, pytorch: bool) -> None:
    model, optimizer, x, step = make_step(*size)
    ours = MemTracker()
    ours.track_external(model, optimizer, x)
    light = tidemark.track(model, optimizer, x)
    for context in (baseline(), ours, light):
        timed(step, context)
    ours.reset_mod_stats()
    plain, tracked, lightly = [], [], []
    for _ in range(pairs):
        plain.append(timed(step, baseline()))
        tracked.append(timed(step, ours))
        ours.reset_mod_stats()
        lightly.append(timed(step, light))
    middle = statistics.median(plain)
    modules = sum(1 for module in model.modules() if not isinstance(module, nn.ModuleList))
    line = (f"{size[1]:5d} {modules:8d} {middle * 1e3:9.1f} ms"
            f" {statistics.median(tracked) / middle:11.3f} {statistics.median(lightly) / middle:14.3f}")
    if pytorch:
        theirs = pytorch_ratio(size, max(3, pairs // 10))
        line += f" {theirs:15.1f}"
    print(line, flush=True)


def pytorch_ratio(size: tuple[int, int, int, int], pairs: int) -> float:
    from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker

    model, optimizer, x, step = make_step(*size)
    tracker = TorchMemTracker()
    tracker.track_external(model, optimizer, x)
    plain, tracked = [], []
    for _ in range(pairs):
        plain.append(timed(step, contextlib.nullcontext()))
        tracked.append(timed_with_reset(step, tracker))
    return statistics.median(tracked) / statistics.median(plain)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--layers", type=int, nargs="*", default=[4, 16, 48])
    parser.add_argument("--small", action="store_true", help="only the small steps")
    parser.add_argument("--no-pytorch", dest="pytorch", action="store_false")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("width  modules     baseline  MemTracker         track  PyTorch's tracker")
    for layers in options.layers:
        measure((layers, 64, 2, 16), empty_hooks, options.pairs, options.pytorch)
    if not options.small:
        for layers in options.layers:
            measure((layers, 512, 8, 128), contextlib.nullcontext, options.pairs, options.pytorch)


if __name__ == "__main__":
    main()
