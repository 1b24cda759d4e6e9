"""What the live tracker costs under FSDP2 beside what it costs without: training steps on the CPU.

    python bench/fsdp_tracker_cost.py

The same blocks, plain and sharded over a process group of 8 ranks that sends nothing; tracked over
untracked steps in turn, medians.
"""

from __future__ import annotations

import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore

import tidemark
from tidemark.compat.fsdp2_mem_tracker import FSDPMemTracker

LAYERS, WIDTH, LENGTH, ROUNDS, STEPS, RANKS = 8, 128, 64, 11, 3, 8


def make(is_sharded: bool) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
                            for _ in range(LAYERS)))
    if is_sharded:
        for layer in model:
            fully_shard(layer)
        fully_shard(model)
    return model, torch.optim.SGD(model.parameters(), lr=1e-3)


def seconds_a_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> float:
    x = torch.ones(2, LENGTH, WIDTH)
    start = time.perf_counter()
    for _ in range(STEPS):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return (time.perf_counter() - start) / STEPS


def ratio(is_sharded: bool, drop_in: bool = False) -> tuple[float, float]:
    model, optimizer = make(is_sharded)
    seconds_a_step(model, optimizer)
    ratios, plain = [], []
    for _ in range(ROUNDS):
        plain.append(seconds_a_step(model, optimizer))
        tracker = FSDPMemTracker(model, optimizer) if drop_in else tidemark.track(model, optimizer)
        with tracker:
            model(torch.ones(2, LENGTH, WIDTH)).sum().backward()  # meets every module
            optimizer.zero_grad()
            ratios.append(seconds_a_step(model, optimizer) / plain[-1])
    return statistics.median(plain), statistics.median(ratios)


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    for name, *how in (("plain, tidemark.track", False), ("FSDP2, tidemark.track", True),
                       ("FSDP2, FSDPMemTracker", True, True)):
        plain, tracked = ratio(*how)
        print(f"{name:<24}{1e3 * plain:>8.1f} ms a step untracked, tracked {tracked:.3f} of it")


if __name__ == "__main__":
    main()
