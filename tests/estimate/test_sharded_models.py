"""Sharded models on virtual GPUs: each rank of a job, shards on the host, FullyShardedDataParallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sharded_scripts import HEAD

import tidemark

START = """
import torch
from torch import nn
device = "cuda"
"""


def tape_of(estimate: Callable[..., Any], folder: Path, script: str, *flags: object) -> tidemark.Tape:
    path = folder / "train.py"
    path.write_text(START + script)
    done = estimate("--steps", 0, *flags, "--save", folder / "run.tape", path)
    assert done.exit_code == 0, done.script_output
    return tidemark.open(folder / "run.tape")


def bytes_of(tape: tidemark.Tape) -> Counter[str]:
    """Of all storages that there were on GPUs, by what each was last."""
    alive: dict[int, tuple[int, str]] = {}
    found: Counter[str] = Counter()
    for event in (tape.events[i] for i in range(len(tape))):
        if not event.device.startswith("cuda"):
            continue
        if event.kind.name == "Alloc":
            alive[event.storage] = event.bytes, event.category.name
        elif event.kind.name == "Relabel":
            alive[event.storage] = alive[event.storage][0], event.category.name
        elif event.kind.name == "Free":
            size, category = alive.pop(event.storage)
            found[category] += size
    for size, category in alive.values():
        found[category] += size
    return found


def lives_of(tape: tidemark.Tape) -> Counter[tuple[object, ...]]:
    """Bytes and categories of every storage, in the order it had them."""
    alive: dict[int, list[object]] = {}
    lives: list[list[object]] = []
    for event in (tape.events[i] for i in range(len(tape))):
        if event.kind.name == "Alloc":
            lives.append([event.bytes, event.category.name])
            alive[event.storage] = lives[-1]  # numbers come again when their storage is dead
        elif event.kind.name == "Relabel" and event.category.name != alive[event.storage][-1]:
            alive[event.storage].append(event.category.name)
    return Counter(map(tuple, lives))


@pytest.mark.parametrize("number", range(4))
def test_each_rank_holds_an_equal_part(
    estimate: Callable[..., Any], tmp_path: Path, number: int
) -> None:
    script = HEAD.replace('dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)',
                          'dist.init_process_group("nccl")')
    script += """
torch.cuda.set_device(dist.get_rank())
model = shard(Net(blocks=1, width=18).to(device))
x = torch.randn(32, 18, device=device)
model(x).sum().backward()
model.reshard()
kept = sum(p.to_local().untyped_storage().nbytes() for p in model.parameters())
print("kept", kept, "shards", sum(p.to_local().numel() for p in model.parameters()))
"""
    path = tmp_path / "train.py"
    path.write_text(START + script)
    done = estimate("--steps", 0, "--world-size", 4, "--rank", number, "--save", tmp_path / "run.tape", path)
    assert done.exit_code == 0, done.script_output
    # Rows of 54 x 18, 54, 18 x 54, 18, 8 x 18 and 8 over four ranks: 14, 14, 5, 5, 2 and 2 of each.
    padded = 14 * 18 + 14 + 5 * 54 + 5 + 2 * 18 + 2
    first, last = padded, 12 * 18 + 12 + 3 * 54 + 3 + 2 * 18 + 2
    assert f"kept {padded * 4} shards {last if number == 3 else first}" in done.script_output
    assert 3 * first + last == 54 * 18 + 54 + 18 * 54 + 18 + 8 * 18 + 8
    # What is gathered, and what is reduced, are four such parts: the block's twice, for its backward again.
    lives = lives_of(tidemark.open(tmp_path / "run.tape"))
    block, head = (14 * 18 + 14 + 5 * 54 + 5) * 4, (2 * 18 + 2) * 4
    for part, gathers in ((block, 2), (head, 1)):
        assert sum(count for life, count in lives.items() if life[0] == 4 * part and "AllGather" in life) == gathers
        assert sum(count for life, count in lives.items()
                   if life[0] == 4 * part and "ReduceScatter" in life) == 1
        assert sum(count for life, count in lives.items()
                   if life[0] == part and life[-1] == "ShardedGradient") == 1


def test_shards_on_the_host_are_copied_for_the_all_gather(
    estimate: Callable[..., Any], tmp_path: Path
) -> None:
    tape = tape_of(estimate, tmp_path, HEAD + """
from torch.distributed.fsdp import CPUOffloadPolicy
train(shard(Net(blocks=1), offload_policy=CPUOffloadPolicy(pin_memory=True)), steps=1)
""")
    found = bytes_of(tape)
    unit = (2 * 64 * 192 + 192 + 64) * 4
    assert not found["ShardedParameter"] and not found["ShardedGradient"]
    assert found["AllGather"] >= 2 * (unit + unit // 4)  # the buffers, and the shards on their way
    assert found["UnshardedParameter"] >= unit


FLAT = """
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
for rows, columns in ((64, 64), (61, 63)):
    model = FullyShardedDataParallel(nn.Linear(columns, rows, bias=False).to(device), device_id=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(32, columns, device=device)
    for _ in range(2):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""


def test_flat_parameters_are_parameters(estimate: Callable[..., Any], tmp_path: Path) -> None:
    lives = lives_of(tape_of(estimate, tmp_path, FLAT))
    # 64 x 64 numbers over four ranks, and 61 x 63, which one more makes divisible.
    for whole, padded in ((64 * 64 * 4, 64 * 64 * 4), (61 * 63 * 4, (61 * 63 + 1) * 4)):
        shard = padded // 4
        assert any(life[0] == shard and life[-1] == "Parameter" for life in lives)
        assert any(life[0] == padded and "AllGather" in life for life in lives)
        # The input of the reduction, twice; where it must be filled up, it is a copy of the gradient.
        assert sum(count for life, count in lives.items() if life[0] == padded and life[-1] == "ReduceScatter") == 2
        if padded > whole:
            assert lives[padded, "ReduceScatter"] == 2
            assert any(life[0] == whole and life[-1] == "Gradient" for life in lives)
        assert lives[shard, "ReduceScatter", "Gradient"] == 2  # and its output
