"""What DataParallel and torch.cuda.comm ask torch._C for: copies between GPUs, as a CUDA build makes
them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from tidemark.virtual_cuda.patches import Patches
from tidemark.virtual_cuda.storages import SMALL_BYTES

HOST = -1  # as a number of a device
SUM = 0  # as NCCL numbers its reductions
NCCL_VERSION = (2, 27, 5)  # that of PyTorch 2.11's CUDA builds


def patch_comm(patches: Patches) -> None:
    patches.set_all(
        torch._C,
        _broadcast=broadcast,
        _broadcast_out=copy_into_each,
        _broadcast_coalesced=broadcast_coalesced,
        _scatter=scatter,
        _scatter_out=scatter_into,
        _gather=gather,
        _gather_out=gather_into,
        _nccl_reduce=reduce,
        _nccl_all_reduce=all_reduce,
    )
    patches.set(torch.cuda.nccl, "version", lambda: NCCL_VERSION)


def place(device: int) -> torch.device:
    return torch.device("cpu") if device == HOST else torch.device("cuda", device)


def broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    """The tensor itself where it is already."""
    return [tensor.detach().to(place(device), non_blocking=True) for device in devices]


def copy_into_each(tensor: torch.Tensor, out: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    for one in out:
        one.copy_(tensor, non_blocking=True)
    return list(out)


def broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    """Each further device gets flat buffers of about that size, and the tensors as views of them."""
    results: list[list[torch.Tensor]] = [[tensor.detach() for tensor in tensors]]
    results += [[torch.Tensor()] * len(tensors) for _ in devices[1:]]
    for chunk in chunks_of(tensors, buffer_size):
        flat: Any = torch.cat([tensors[i].detach().reshape(-1) for i in chunk])
        for device, row in zip(devices[1:], results[1:]):
            parts = flat.to(place(device)).split([tensors[i].numel() for i in chunk])
            for i, part in zip(chunk, parts):
                row[i] = part.view(tensors[i].shape)
    return results


def chunks_of(tensors: Sequence[torch.Tensor], buffer_size: int) -> Iterator[list[int]]:
    """Which tensors go together: of one type, as many as fill the buffer."""
    open_chunks: dict[torch.dtype, tuple[list[int], int]] = {}
    for i, tensor in enumerate(tensors):
        chunk, size = open_chunks.pop(tensor.dtype, ([], 0))
        chunk, size = [*chunk, i], size + tensor.nbytes
        if size >= buffer_size:
            yield chunk
        else:
            open_chunks[tensor.dtype] = chunk, size
    for chunk, _ in open_chunks.values():
        yield chunk


def scatter(
    tensor: torch.Tensor, devices: Sequence[int], chunk_sizes: Any, dim: int, streams: Any
) -> list[torch.Tensor]:
    chunks = split(tensor, len(devices), chunk_sizes, dim)
    return [chunk.to(place(device), non_blocking=True) for chunk, device in zip(chunks, devices)]


def split(tensor: torch.Tensor, count: int, sizes: Any, dim: int) -> Sequence[torch.Tensor]:
    whole: Any = tensor.detach()  # torch does not type its split
    parts: Sequence[torch.Tensor] = (
        whole.chunk(count, dim) if sizes is None else whole.split(list(sizes), dim))
    return parts


def scatter_into(
    tensor: torch.Tensor, out: Sequence[torch.Tensor], dim: int, streams: Any
) -> list[torch.Tensor]:
    for one, chunk in zip(out, split(tensor, len(out), [one.size(dim) for one in out], dim)):
        one.copy_(chunk, non_blocking=True)
    return list(out)


def gather(tensors: Sequence[torch.Tensor], dim: int, device: int | None) -> torch.Tensor:
    first = tensors[0]
    size = list(first.shape)
    size[dim] = sum(tensor.size(dim) for tensor in tensors)
    where = torch.device("cuda", torch.cuda.current_device()) if device is None else place(device)
    # Filled, for the sake of values that are known: it becomes the parts.
    return gather_into(tensors, torch.zeros(size, dtype=first.dtype, device=where), dim)


def gather_into(tensors: Sequence[torch.Tensor], out: torch.Tensor, dim: int) -> torch.Tensor:
    whole: Any = out
    for one, part in zip(tensors, whole.split([one.size(dim) for one in tensors], dim)):
        part.copy_(one.detach(), non_blocking=True)
    return out


def reduce(inputs: Sequence[torch.Tensor], output: torch.Tensor, root: int, op: int, *_: Any) -> None:
    """NCCL adds up on its way: nothing is allocated. What a large sum is, nobody asks."""
    if op == SUM and output.nbytes <= SMALL_BYTES:
        output.copy_(torch.stack([one.detach().cpu() for one in inputs]).sum(0))
    else:
        output.copy_(torch.empty((), dtype=output.dtype, device=output.device).expand_as(output))


def all_reduce(
    inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], op: int, *_: Any
) -> None:
    for root, output in enumerate(outputs):
        reduce(inputs, output, root, op)
