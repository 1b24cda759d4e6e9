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
    """Of all storages that there were, by what each was last."""
    alive: dict[int, tuple[int, str]] = {}
    found: Counter[str] = Counter()
    for event in (tape.events[i] for i in range(len(tape))):
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
    done = estimate("--steps", 0, "--world-size", 4, "--rank", number, path)
    assert done.exit_code == 0, done.script_output
    # Rows of 54 x 18, 54, 18 x 54, 18, 8 x 18 and 8 over four ranks: 14, 14, 5, 5, 2 and 2 of each.
    padded = 14 * 18 + 14 + 5 * 54 + 5 + 2 * 18 + 2
    first, last = padded, 12 * 18 + 12 + 3 * 54 + 3 + 2 * 18 + 2
    assert f"kept {padded * 4} shards {last if number == 3 else first}" in done.script_output
    assert 3 * first + last == 54 * 18 + 54 + 18 * 54 + 18 + 8 * 18 + 8


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


def test_flat_parameters_are_parameters(estimate: Callable[..., Any], tmp_path: Path) -> None:
    tape = tape_of(estimate, tmp_path, """
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
model = FullyShardedDataParallel(nn.Linear(64, 64, bias=False).to(device), device_id=0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 64, device=device)
for _ in range(2):
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""")
    categories = {event.category.name for event in (tape.events[i] for i in range(len(tape)))
                  if event.bytes in (64 * 64 * 4, 64 * 64) and event.kind.name in ("Alloc", "Relabel")}
    assert {"Parameter", "Gradient", "AllGather"} <= categories
