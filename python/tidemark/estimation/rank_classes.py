"""Which ranks hold shards of the same sizes: found from the sharded parameters of one rank's run.

Tensors are cut into pieces of equal length; where it does not come out even the last ones are shorter,
or empty. How long each rank's pieces are follows from the mesh, so one rank knows it of all that it
shares a mesh with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Spec = tuple[Any, tuple[Any, ...], tuple[int, ...]]  # mesh, placements, the whole tensor's size


class ShardedTensors:
    """The kinds of sharded tensors that a run has met."""

    def __init__(self) -> None:
        self._specs: dict[Any, Spec] = {}

    def meet(self, tensor: Any) -> None:
        """Of a DTensor; any other is not sharded."""
        mesh = getattr(tensor, "device_mesh", None)
        if mesh is None or not hasattr(tensor, "placements"):
            return
        spec = (mesh, tuple(tensor.placements), tuple(tensor.shape))
        self._specs.setdefault(spec, spec)

    def classes(self) -> list[list[int]]:
        """Ranks in groups that hold the same; those that share no mesh with this one are not named."""
        pieces: dict[int, list[Any]] = {}
        for number, (mesh, placements, shape) in enumerate(self._specs.values()):
            for rank, coordinate in coordinates_in(mesh.mesh.tolist()):
                local = local_shape(shape, placements, mesh.mesh.shape, coordinate)
                pieces.setdefault(rank, []).append((number, local))
        groups: dict[Any, list[int]] = {}
        for rank in sorted(pieces):
            groups.setdefault(tuple(pieces[rank]), []).append(rank)
        return list(groups.values())


def coordinates_in(ranks: Any, above: tuple[int, ...] = ()) -> Iterable[tuple[int, tuple[int, ...]]]:
    """Every rank of a mesh with its place in it."""
    if isinstance(ranks, int):
        yield ranks, above
        return
    for place, inner in enumerate(ranks):
        yield from coordinates_in(inner, (*above, place))


def local_shape(shape: Sequence[int], placements: Sequence[Any], mesh_shape: Sequence[int],
                coordinate: Sequence[int]) -> tuple[int, ...]:
    """What a rank holds of a tensor. FSDP cuts what tensor parallelism has cut before, though its
    dimension of the mesh comes first: such a cut is called strided."""
    local = list(shape)
    cuts = [(hasattr(placement, "split_factor"), number) for number, placement in enumerate(placements)
            if hasattr(placement, "dim")]
    for _, number in sorted(cuts):
        dimension = placements[number].dim
        local[dimension] = piece(local[dimension], mesh_shape[number], coordinate[number])
    return tuple(local)


def piece(length: int, pieces: int, index: int) -> int:
    each = -(-length // pieces)
    return max(0, min(each, length - each * index))


def words_of(ranks: Sequence[int]) -> str:
    """`0-1016`, `3, 5, 7`."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def ranks_in(words: str) -> list[int]:
    """The ranks again."""
    found: list[int] = []
    for part in words.split(", "):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found
