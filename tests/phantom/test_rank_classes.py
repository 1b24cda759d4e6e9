"""Which ranks hold the same, against what PyTorch's DTensor says each of them holds."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import torch
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.placement_types import _StridedShard

from tidemark.estimation.rank_classes import (
    ShardedTensors,
    local_shape,
    piece,
    ranks_in,
    words_of,
)
from tidemark.estimation.single_chunks import Chunks


def test_pieces_are_those_of_chunk() -> None:
    for length, count in itertools.product(range(1, 20), range(1, 9)):
        made = [part.numel() for part in torch.chunk(torch.empty(length), count)]
        assert [piece(length, count, i) for i in range(count)] == made + [0] * (count - len(made))


def test_local_shapes_are_those_of_dtensor() -> None:
    from torch.distributed.tensor._utils import _compute_local_shape_and_global_offset

    rng = random.Random(0)
    for _ in range(300):
        mesh = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
        shape = [rng.randint(1, 12) for _ in range(rng.randint(1, 3))]
        placements = [rng.choice([Replicate(), Shard(rng.randrange(len(shape)))]) for _ in mesh]
        coordinate = [rng.randrange(size) for size in mesh]
        theirs, _ = _compute_local_shape_and_global_offset(shape, mesh, coordinate, placements)
        assert local_shape(shape, placements, mesh, coordinate) == tuple(theirs)


def test_fsdp_cuts_what_tensor_parallelism_left() -> None:
    """PyTorch shards the local tensor of tensor parallelism: 10 rows, 5 on each of two, over 4."""
    placements = [_StridedShard(0, split_factor=2), Shard(0)]
    lengths = [local_shape((10, 3), placements, (4, 2), place)[0]
               for place in itertools.product(range(4), range(2))]
    assert lengths == [2, 2, 2, 2, 1, 1, 0, 0]


def test_ranks_are_alike_in_all_tensors() -> None:
    met = ShardedTensors()
    mesh = FakeMesh(torch.arange(8))
    for rows in (8, 10, 20):
        met.meet(FakeTensor((rows, 2), [Shard(0)], mesh))
    met.meet(torch.empty(3))
    # 10 over 8: 2 each for five, then none; 20 over 8: 3 each for six, then 2, then none.
    assert met.classes() == [[0, 1, 2, 3, 4], [5], [6], [7]]


def test_copies_of_shards_are_alike() -> None:
    met = ShardedTensors()
    met.meet(FakeTensor((3, 2), [Replicate(), Shard(0)], FakeMesh(torch.arange(6).view(3, 2))))
    assert met.classes() == [[0, 2, 4], [1, 3, 5]]


class FakeMesh:
    def __init__(self, mesh: torch.Tensor) -> None:
        self.mesh = mesh


class FakeTensor:
    def __init__(self, shape: tuple[int, ...], placements: list[Any], mesh: FakeMesh) -> None:
        self.shape, self.placements, self.device_mesh = shape, placements, mesh


@pytest.mark.parametrize("ranks", [[0], [0, 1, 2], [0, 2, 4], [1, 2, 5, 7, 8, 9]])
def test_words_say_ranks(ranks: list[int]) -> None:
    assert ranks_in(words_of(ranks)) == ranks


def test_words_are_short() -> None:
    assert words_of([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"


@pytest.mark.parametrize("dimension", [0, 1])
def test_chunks_are_those_of_fsdp(dimension: int) -> None:
    from torch.distributed.fsdp._fully_shard._fsdp_common import _chunk_with_empty

    tensor = torch.arange(35.0).view(5, 7)
    for count in range(1, 12):
        theirs, ours = _chunk_with_empty(tensor, count, dim=dimension), Chunks(tensor, count, dimension)
        assert len(ours) == len(theirs)
        for mine, one in zip(ours, theirs, strict=True):
            assert mine.shape == one.shape and torch.equal(mine, one)
            assert mine.stride() == one.stride()
            assert mine.numel() == 0 or mine.data_ptr() == one.data_ptr()
        assert torch.equal(ours[-1], theirs[-1])
    with pytest.raises(IndexError):
        Chunks(tensor, 3, 0)[3]
