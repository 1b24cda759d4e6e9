"""Our memory profile beside PyTorch's, of the same finished profiles, in one process.

    python bench/profile_against_torch.py [LAYERS ...] [--torch-up-to LAYERS] [--rounds COUNT]

One training step of encoders (width 64, 4 heads, 2 x 16 tokens, Adam) is profiled. "analysis" goes
from the finished profile to data flow, categories and the timeline; "objects" makes all of the
drop-in's besides: every node with its edges, every category, size and entry, the coalesced rows.
Times are CPU time, medians of rounds in which each side is called once.
PyTorch's own, which takes seconds, is left out of larger models; --torch-up-to says how large.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.profiler._memory_profiler as theirs

from tidemark import _profile
from tidemark.compat import memory_profiler as ours


def profile_of_step(layers: int) -> Any:
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    x = torch.rand(2, 16, 64)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        record_shapes=True, profile_memory=True, with_stack=True,
    ) as profile:  # fmt: skip
        model(x).square().mean().backward()
        optimizer.step()
    return profile.profiler.kineto_results


def seconds(call: Callable[[], object]) -> float:
    """CPU time of one call: machines are shared."""
    gc.collect()
    gc.disable()  # for both sides: a collection in the middle is noise
    begin = time.process_time()
    call()
    end = time.process_time()
    gc.enable()
    return end - begin


def medians(calls: list[Callable[[], object]], rounds: int) -> list[float]:
    """The median of each call; a round calls all of them, so that a loaded minute slows all alike."""
    taken = [[seconds(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken)]


def everything(module: Any, result: Any) -> object:
    memory = module.MemoryProfile(result)
    rows = module.MemoryProfileTimeline(memory)._coalesce_timeline("cpu")
    edges = [node._edges for node in memory._data_flow_graph.flow_nodes]
    return memory._categories._values, memory._size_map._values, memory.timeline, edges, rows


def row(layers: int, torch_up_to: int, rounds: int) -> tuple[str, ...]:
    result = profile_of_step(layers)
    found = _profile.analyse(result)
    modules = [ours, theirs] if layers <= torch_up_to else [ours]
    calls: list[Callable[[], object]] = [lambda: _profile.analyse(result)]
    calls += [lambda: theirs.MemoryProfile(result).timeline] * (len(modules) - 1)
    calls += [partial(everything, module, result) for module in modules]
    taken = medians(calls, rounds)
    cells = [f"{layers}", f"{found.event_count():,}", f"{found.node_count():,}"]
    for at in (0, len(modules)):
        cells.append(f"{taken[at] * 1e3:.2f} ms")
        ratio = len(modules) == 2 and taken[at + 1] / taken[at]
        cells += [f"{taken[at + 1]:.3f} s", f"{ratio:.0f}x"] if ratio else ["-", "-"]
    return *cells, f"{taken[0] * 1e6 / found.event_count():.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("layers", nargs="*", type=int, default=[1, 4, 16, 64])
    parser.add_argument("--torch-up-to", type=int, default=16, metavar="LAYERS")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    heads = ("layers", "events", "nodes", "analysis", "PyTorch's", "ratio",
             "objects", "PyTorch's", "ratio", "us/event")  # fmt: skip
    print("".join(f"{head:>11}" for head in heads))
    for layers in options.layers:
        print("".join(f"{cell:>11}" for cell in row(layers, options.torch_up_to, options.rounds)), flush=True)


if __name__ == "__main__":
    main()
