"""What the live tracker costs under FSDP2 beside what it costs without: training steps on the CPU.

    python bench/fsdp_tracker_cost.py [--width 128] [--length 64] [--rounds 11]

The same blocks, plain and sharded over a process group of 8 ranks that sends nothing; tracked over
untracked steps in turn, medians. What a tracker costs is a sum for each parameter and module, so narrow
layers show it, and wide ones (--width 512 --length 128) hide it.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore

import tidemark
from tidemark.compat.fsdp2_mem_tracker import FSDPMemTracker

LAYERS, STEPS, RANKS = 8, 3, 8


def make(width: int, is_sharded: bool) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
                            for _ in range(LAYERS)))
    if is_sharded:
        for layer in model:
            fully_shard(layer)
        fully_shard(model)
    return model, torch.optim.SGD(model.parameters(), lr=1e-3)


def seconds_a_step(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> float:
    start = time.perf_counter()
    for _ in range(STEPS):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return (time.perf_counter() - start) / STEPS


def ratio(size: argparse.Namespace, is_sharded: bool, drop_in: bool = False) -> tuple[float, float]:
    model, optimizer = make(size.width, is_sharded)
    x = torch.ones(2, size.length, size.width)
    seconds_a_step(model, optimizer, x)
    ratios, plain = [], []
    for _ in range(size.rounds):
        plain.append(seconds_a_step(model, optimizer, x))
        tracker = FSDPMemTracker(model, optimizer) if drop_in else tidemark.track(model, optimizer)
        with tracker:
            model(x).sum().backward()  # meets every module
            optimizer.zero_grad()
            ratios.append(seconds_a_step(model, optimizer, x) / plain[-1])
    return statistics.median(plain), statistics.median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=11)
    size = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    for name, *how in (("plain, tidemark.track", False), ("FSDP2, tidemark.track", True),
                       ("FSDP2, FSDPMemTracker", True, True)):
        plain, tracked = ratio(size, *how)
        print(f"{name:<24}{1e3 * plain:>8.1f} ms a step untracked, tracked {tracked:.3f} of it")


if __name__ == "__main__":
    main()
