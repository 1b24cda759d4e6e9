"""torch.nn.DataParallel and torch.cuda.comm: what goes from GPU to GPU, and what it takes there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.cuda import comm

WIDTH = 2048
WEIGHT = WIDTH * WIDTH * 4


def train(device_ids: list[int]) -> nn.DataParallel[nn.Module]:
    layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2)]
    model = nn.DataParallel(nn.Sequential(*layers, nn.BatchNorm1d(WIDTH)).cuda(), device_ids)
    for _ in range(2):
        model.zero_grad()
        loss = model(torch.ones(8, WIDTH))
        assert loss.shape == (8, WIDTH) and loss.device == torch.device("cuda", 0)
        loss.sum().backward()
    return model


@pytest.mark.usefixtures("no_library_workspaces")
def test_one_gpu_needs_no_replica(gpus: Any) -> None:
    model = train([0])
    assert model.module[0].weight.grad.device.index == 0  # type: ignore[index]
    assert 4 * WEIGHT <= torch.cuda.max_memory_allocated(0) < 4 * WEIGHT + (1 << 20)
    assert torch.cuda.max_memory_allocated(1) == 0


@pytest.mark.usefixtures("no_library_workspaces")
def test_a_replica_and_its_gradient_live_on_the_other_gpu(gpus: Any) -> None:
    """There are both weights at the end of the forward, and both gradients at the end of the
    backward. On the first GPU are then weights, gradients, and the sums of both replicas' gradients."""
    model = train([0, 1])
    gradient = model.module[0].weight.grad  # type: ignore[index]
    assert gradient.device.index == 0 and gradient.shape == (WIDTH, WIDTH)
    assert 2 * WEIGHT <= torch.cuda.max_memory_allocated(1) < 2 * WEIGHT + (1 << 20)
    assert torch.cuda.memory_allocated(1) < 1 << 20  # replicas die with their step
    assert 6 * WEIGHT <= torch.cuda.max_memory_allocated(0) < 6 * WEIGHT + (1 << 20)


NUMBERS = list(range(8))


@pytest.mark.parametrize(("program", "expected"), [
    (lambda x, y: comm.scatter(x, [0, 1]), [NUMBERS[:4], NUMBERS[4:]]),
    (lambda x, y: comm.scatter(x.cpu(), [0, 1], chunk_sizes=[2, 6]), [NUMBERS[:2], NUMBERS[2:]]),
    (lambda x, y: comm.scatter(x, out=[x.new_zeros(3), y.new_zeros(5)]), [NUMBERS[:3], NUMBERS[3:]]),
    (lambda x, y: [comm.gather([x, y])], [NUMBERS * 2]),
    (lambda x, y: [comm.gather([x, y], destination="cpu")], [NUMBERS * 2]),
    (lambda x, y: [comm.gather([x, y], out=x.new_zeros(16))], [NUMBERS * 2]),
    (lambda x, y: comm.broadcast(x, [0, 1]), [NUMBERS, NUMBERS]),
    (lambda x, y: comm.broadcast(x, out=[x.new_zeros(8), y.new_zeros(8)]), [NUMBERS, NUMBERS]),
    (lambda x, y: sum(comm.broadcast_coalesced([x, x.int(), x + 1], [0, 1]), []),
     [NUMBERS, NUMBERS, [n + 1 for n in NUMBERS]] * 2),
    (lambda x, y: [comm.reduce_add([x, y])], [[2 * n for n in NUMBERS]]),
    (lambda x, y: comm.reduce_add_coalesced([[x, x], [y, y]]), [[2 * n for n in NUMBERS]] * 2),
], ids=["scatter", "scatter host", "scatter out", "gather", "gather to host", "gather out", "broadcast",
        "broadcast out", "broadcast coalesced", "reduce", "reduce coalesced"])
@pytest.mark.filterwarnings("error")
def test_values_travel(gpus: Any, program: Callable[..., Any], expected: list[list[int]]) -> None:
    x = torch.tensor(NUMBERS, device="cuda:0")
    results = program(x, x.to("cuda:1"))
    assert [one.tolist() for one in results] == expected


def test_small_tensors_share_a_buffer_on_the_other_gpu(gpus: Any) -> None:
    small = [torch.ones(100, device="cuda:0") for _ in range(10)]
    before = torch.cuda.memory_allocated(0)
    kept = comm.broadcast_coalesced(small, [0, 1])
    assert torch.cuda.memory_allocated(0) == before
    assert torch.cuda.memory_allocated(1) == 4096 and len(kept[1]) == 10  # 4000 bytes in one piece
