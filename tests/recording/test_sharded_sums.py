"""Sums over the ranks of a job: shards add up to the model, buffers to what is exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import nn

import tidemark

RANKS = 4
FLOAT = 4


@contextmanager
def rank(number: int, size: int = RANKS) -> Iterator[Any]:
    """One rank on the CPU; the others do not exist."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=number, world_size=size)
    try:
        yield init_device_mesh("cpu", (size,))
    finally:
        torch.distributed.destroy_process_group()


def sharded(mesh: Any, width: int, **how: Any) -> Any:
    from torch.distributed.fsdp import fully_shard

    model = nn.Sequential(
        nn.Sequential(nn.Linear(width, 3 * width), nn.Tanh(), nn.Linear(3 * width, width)),
        nn.Linear(width, 2))
    fully_shard(model[0], mesh=mesh, **how)
    return fully_shard(model, mesh=mesh, **how)


def padded_bytes(module: nn.Module, ranks: int = RANKS) -> int:
    """What all ranks hold: each parameter in parts of equal size, the last filled up."""
    return sum(-(-p.shape[0] // ranks) * ranks * p[0].numel() * FLOAT for p in module.parameters())


def lives_of(tape: tidemark.Tape) -> Counter[tuple[object, ...]]:
    """Bytes and categories of every storage, in the order it had them."""
    lives: dict[int, list[object]] = {}
    done: Counter[tuple[object, ...]] = Counter()
    for event in (tape.events[i] for i in range(len(tape))):
        if event.kind.name == "Alloc":
            lives[event.storage] = [event.bytes, event.category.name]
        elif event.kind.name == "Relabel" and event.category.name != lives[event.storage][-1]:
            lives[event.storage].append(event.category.name)  # else only its owner is another
        elif event.kind.name == "Free":
            done[tuple(lives.pop(event.storage))] += 1
    return done + Counter(tuple(life) for life in lives.values())


def run_as(number: int, width: int) -> tuple[dict[str, int], Counter[tuple[object, ...]], Any]:
    """One step of a rank: what it holds at the end, all that there was, and its shards."""
    with rank(number) as mesh:
        model = sharded(mesh, width)
        with tidemark.track(model, operators=True) as tracking:
            model(torch.ones(8, width)).sum().backward()
            model.reshard()
            row = tracking.current["cpu"]
        local = [p.to_local().numel() for p in model.parameters()]
        return row, lives_of(tracking.tape), local


@pytest.mark.parametrize("width", [16, 18])  # 18, 54 and 2 rows: shards of four ranks are uneven
def test_what_ranks_hold_adds_up(width: int) -> None:
    plain = nn.Sequential(
        nn.Sequential(nn.Linear(width, 3 * width), nn.Tanh(), nn.Linear(3 * width, width)),
        nn.Linear(width, 2))
    unit, rest = padded_bytes(plain[0]), padded_bytes(plain[1])
    shards = []
    for number in range(RANKS):
        row, lives, local = run_as(number, width)
        shards.append(local)
        # Every rank holds as much as the first, which nothing is missing of.
        assert row["ShardedParameter"] == (unit + rest) // RANKS
        assert row["ShardedGradient"] == (unit + rest) // RANKS
        assert not {"UnshardedParameter", "UnshardedGradient", "AllGather", "ReduceScatter",
                    } & row.keys()
        for whole, gathers in ((unit, 2), (rest, 1)):  # the root keeps its own for the backward
            assert lives[whole, "AllGather"] == gathers
            assert lives[whole, "ReduceScatter"] == 1
            assert lives[whole // RANKS, "ReduceScatter", "ShardedGradient"] == 1
        put_together = sum(int(str(life[0])) * count for life, count in lives.items()
                           if life[1:] == ("UnshardedParameter",))
        assert put_together == 2 * unit + rest
        gradients = sum(int(str(life[0])) * count for life, count in lives.items()
                        if life[-1] == "UnshardedGradient")
        assert gradients == sum(p.numel() * FLOAT for p in plain.parameters())
    for parameter, parts in zip(plain.parameters(), zip(*shards, strict=True), strict=True):
        assert sum(parts) == parameter.numel()


def test_offloaded_shards_are_where_they_are_kept() -> None:
    from torch.distributed.fsdp import CPUOffloadPolicy

    with rank(0) as mesh:
        model = sharded(mesh, 16, offload_policy=CPUOffloadPolicy(pin_memory=False))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        with tidemark.track() as tracking:
            model(torch.ones(8, 16)).sum().backward()
            optimizer.step()
            row = tracking.current["cpu"]
        mine = sum(p.to_local().numel() * FLOAT for p in model.parameters())
    assert row["ShardedParameter"] == row["ShardedGradient"] == row["OptimizerState"] == mine


def test_the_gradients_of_replicas_are_exchanged_in_a_buffer_of_their_own() -> None:
    """In another precision than the gradients are kept in."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy

    with rank(0):
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
        model = sharded(mesh, 16, mp_policy=policy)
        with tidemark.track(model) as tracking:
            model(torch.ones(8, 16)).float().sum().backward()
    unit = padded_bytes(nn.Sequential(nn.Linear(16, 48), nn.Linear(48, 16)), 2)
    lives = lives_of(tracking.tape)
    assert lives[unit // 2, "ReduceScatter"] == 1  # two bytes a number, of two ranks
    assert lives[unit // 2 // 2, "ReduceScatter", "Communication"] == 1
    assert lives[unit // 2, "ReduceScatter", "ShardedGradient"] == 1


def test_a_program_without_shards_has_none_of_their_categories() -> None:
    model = nn.Linear(16, 16)
    with tidemark.track(model) as tracking:
        model(torch.ones(8, 16)).sum().backward()
        assert tracking.current["cpu"].keys() == {
            "Parameter", "Buffer", "Gradient", "Activation", "Temporary", "OptimizerState", "Other",
            "total"}
