"""What cuBLAS keeps from its first product on, by thread and stream: as seen on an H200."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from tidemark.virtual_cuda import library

MIB = 1 << 20
BLAS, BLAS_LT = 32 * MIB, 1 * MIB


@pytest.fixture
def h200(open_session: Callable[..., Any]) -> Any:
    return open_session(1, "h200")


def square(*sizes: int) -> torch.Tensor:
    return torch.empty(*(sizes or (256, 256)), device="cuda")


def kept(work: Callable[[], object]) -> int:
    """What stays of a work, its results dropped."""
    torch._C._cuda_clearCublasWorkspaces()
    before = torch.cuda.memory_allocated()
    work()
    return torch.cuda.memory_allocated() - before


# Measured with torch 2.11 on an H200, by this very function; the same in all four floating types.
SEEN = {
    "mm": (lambda: square() @ square(), BLAS),
    "two mm": (lambda: (square() @ square(), square() @ square()), BLAS),
    "addmm with a bias": (lambda: torch.addmm(square(256), square(), square()), BLAS + BLAS_LT),
    "addmm with a matrix": (lambda: torch.addmm(square(), square(), square()), BLAS),
    "linear": (lambda: functional.linear(square(), square(), square(256)), BLAS + BLAS_LT),
    "linear without bias": (lambda: functional.linear(square(), square()), BLAS),
    "mm, then addmm": (lambda: (square() @ square(), torch.addmm(square(256), square(), square())),
                       BLAS + BLAS_LT),
    "bmm": (lambda: square(4, 8, 8) @ square(4, 8, 8), BLAS),
    "baddbmm": (lambda: torch.baddbmm(*[square(4, 8, 8)] * 3), BLAS),
    "mv": (lambda: square() @ square(256), BLAS),
    "dot": (lambda: square(256) @ square(256), BLAS),
    "einsum": (lambda: torch.einsum("ij,kj->ik", square(), square()), BLAS),
    "solve": (lambda: torch.linalg.solve(square(), square()), BLAS),
    "inverse": (lambda: torch.linalg.inv(square()), BLAS),
    # These as in a training run there, of matrices as small.
    "triangular solve": (lambda: torch.linalg.solve_triangular(square(48, 48), square(48, 48), upper=True), BLAS),
    "solve by factors": (lambda: torch.linalg.lu_solve(*torch.linalg.lu_factor(square(48, 48)), square(48, 48)),
                         BLAS),
    "factors": (lambda: torch.linalg.lu_factor(square(48, 48)), 0),
    "logarithm of a determinant": (lambda: torch.linalg.slogdet(square(48, 48)), 0),
    "flash attention": (lambda: functional.scaled_dot_product_attention(
        *[square(2, 4, 64, 64).bfloat16()] * 3), 0),
    "convolution": (lambda: functional.conv2d(square(2, 4, 64, 64), square(8, 4, 3, 3)), 0),
    "no product": (lambda: square() * square(), 0),
}


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize("name", list(SEEN))
def test_keeps_what_a_real_gpu_keeps(name: str) -> None:
    work, expected = SEEN[name]
    assert not library().has_used_matmul()
    assert kept(work) == expected
    assert library().has_used_matmul() == (expected > 0)


@pytest.mark.usefixtures("h200")
def test_backward_has_a_handle_of_its_own() -> None:
    layer = torch.nn.Linear(256, 256, device="cuda")
    layer(square()).sum().backward()
    assert kept(lambda: layer(square()).sum().backward()) == 2 * BLAS + BLAS_LT


@pytest.mark.usefixtures("h200")
def test_each_stream_has_its_own() -> None:
    def on_two_streams() -> None:
        x = square()
        _ = x @ x
        with torch.cuda.stream(torch.cuda.Stream()):
            _ = x @ x

    assert kept(on_two_streams) == 2 * BLAS


@pytest.mark.usefixtures("h200")
def test_threads_that_follow_each_other_share_a_handle() -> None:
    def in_thread() -> None:
        thread = threading.Thread(target=lambda: square() @ square())
        thread.start()
        ended = Path(f"/proc/self/task/{thread.native_id}")
        thread.join()
        while ended.exists():  # the handle is given back when the system ends the thread, after join()
            time.sleep(0.001)

    assert kept(lambda: (in_thread(), in_thread())) == BLAS


@pytest.mark.usefixtures("h200")
def test_stays_when_its_product_is_gone() -> None:
    x = square()
    kept(lambda: x @ x)
    assert torch.cuda.memory_allocated() == BLAS + x.nbytes
    kept(lambda: None)
    assert torch.cuda.memory_allocated() == x.nbytes


@pytest.mark.parametrize(("gpu", "setting", "expected"), [
    (9, "", 32 * MIB),
    (10, "", 32 * MIB),
    (8, "", 2 * 4 * MIB + 8 * 16 * 1024),
    (7, "", 2 * 4 * MIB + 8 * 16 * 1024),
    (9, ":4096:8", 32 * MIB),
    (8, ":4096:2:16:8", 2 * 4 * MIB + 8 * 16 * 1024),
    (9, ":16:8", 128 * 1024),
    (9, ":0:0", 0),
    (9, "4096:8", 32 * MIB),
    (9, ":4096", 32 * MIB),
    (9, ":4096:8:", 32 * MIB),
    (9, ":x:8", 32 * MIB),
    (9, ":9223372036854775807:2", 32 * MIB),
])
def test_size_is_what_the_setting_says(gpu: int, setting: str, expected: int) -> None:
    assert library().blas_workspace_bytes(gpu, setting) == expected


@pytest.mark.parametrize(("setting", "expected"), [
    ("", MIB), ("0", 0), ("2048", 2 * MIB), ("many", MIB), ("-4", MIB), ("12x", MIB)])
def test_size_of_blas_lt(setting: str, expected: int) -> None:
    assert library().blas_lt_workspace_bytes(setting) == expected


def test_none_without_cudas_choices(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200", cuda_choices=False)
    assert kept(lambda: square() @ square()) == 0
    assert library().has_used_matmul()
