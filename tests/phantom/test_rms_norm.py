"""nn.RMSNorm on a virtual GPU is one kernel, as CUDA builds have it, whatever build of torch this is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

ROWS, WIDTH = 4096, 1024
ELEMENTS = ROWS * WIDTH


def held_by(make: Callable[[], Any]) -> tuple[int, Any]:
    """Bytes that are allocated for what it makes, and for what autograd keeps of that."""
    before = torch.cuda.memory_allocated()
    made = make()
    return torch.cuda.memory_allocated() - before, made


@pytest.fixture
def h200(open_session: Callable[..., Any]) -> Any:
    return open_session(1, "h200")


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_backward_keeps_a_number_of_each_row(dtype: torch.dtype) -> None:
    """The result, and the reciprocal root of each row in float; the input is there already."""
    x = torch.empty(ROWS, WIDTH, dtype=dtype, device="cuda", requires_grad=True)
    norm = torch.nn.RMSNorm(WIDTH, device="cuda", dtype=dtype)
    held, y = held_by(lambda: norm(x))
    assert held == ELEMENTS * dtype.itemsize + ROWS * 4
    y.sum().backward()
    assert x.grad is not None and x.grad.dtype == dtype and x.grad.shape == x.shape
    assert norm.weight.grad is not None and norm.weight.grad.shape == (WIDTH,)


@pytest.mark.usefixtures("h200")
def test_gradients_have_the_shapes_that_the_cpu_gives_them() -> None:
    grads = {}
    for device in ("cpu", "cuda"):
        x = torch.ones(2, 3, 4, 5, device=device, requires_grad=True)
        weight = torch.ones(4, 5, device=device, requires_grad=True)
        torch.rms_norm(x, (4, 5), weight, 1e-5).sum().backward()
        grads[device] = [(tuple(one.grad.shape), one.grad.dtype) for one in (x, weight) if one.grad is not None]
    assert grads["cuda"] == grads["cpu"] and len(grads["cpu"]) == 2


@pytest.mark.usefixtures("h200")
def test_a_weight_of_another_type_is_taken_apart_on_cuda_too() -> None:
    """PyTorch has no fused kernel for it: copies in float are kept."""
    x = torch.empty(ROWS, WIDTH, dtype=torch.bfloat16, device="cuda", requires_grad=True)
    weight = torch.empty(WIDTH, device="cuda", requires_grad=True)
    held, _ = held_by(lambda: torch.rms_norm(x, (WIDTH,), weight, 1e-5))
    assert held > 2 * ELEMENTS * 4


def test_without_cudas_choices_it_is_taken_apart(open_session: Callable[..., Any]) -> None:
    if torch.version.cuda:
        pytest.skip("a CUDA build has no other way")
    open_session(1, "h200", cuda_choices=False)
    x = torch.empty(ROWS, WIDTH, device="cuda", requires_grad=True)
    norm = torch.nn.RMSNorm(WIDTH, device="cuda")
    held, _ = held_by(lambda: norm(x))
    assert held > ELEMENTS * 4 + ROWS * 4
