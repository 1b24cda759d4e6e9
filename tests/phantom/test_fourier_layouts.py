"""Fourier transforms are laid out as on CUDA, whatever the CPU of this machine does.

cuFFT transforms the innermost dimensions. So PyTorch puts the dimensions that are not transformed
first, the one with the largest stride outermost, and the result has that order in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch


@pytest.fixture
def signal(gpus: Any) -> torch.Tensor:
    return torch.zeros(5, 6, 7, dtype=torch.complex64, device="cuda")


# Dimensions as they lie in memory, outermost first, and the strides that follow from their sizes.
LAYOUTS: list[tuple[str, Callable[[torch.Tensor], torch.Tensor], tuple[int, ...]]] = [
    ("0 2 1: 5, 7, 6", lambda x: torch.fft.fft(x, dim=1), (42, 1, 6)),
    ("1 2 0: 6, 7, 5", lambda x: torch.fft.ifft(x, dim=0), (1, 35, 5)),
    ("0 1 2: 5, 6, 7", lambda x: torch.fft.fftn(x), (42, 7, 1)),
    # Of a turned tensor the first dimension has the smallest stride.
    ("1 0 2: 6, 7, 5", lambda x: torch.fft.fft(x.transpose(0, 2)), (5, 35, 1)),
    # Half of the transformed dimension is enough for real signals: 6 become 4.
    ("0 2 1: 5, 7, 4", lambda x: torch.fft.rfft(x.real, dim=1), (28, 1, 4)),
    ("0 2 1: 5, 7, 10", lambda x: torch.fft.irfft(x, 10, dim=1), (70, 1, 10)),
]


@pytest.mark.parametrize(("order", "transform", "strides"), LAYOUTS, ids=[row[0] for row in LAYOUTS])
def test_transformed_dimensions_are_innermost(
    signal: torch.Tensor, order: str, transform: Callable[[torch.Tensor], torch.Tensor],
    strides: tuple[int, ...],
) -> None:
    for _ in range(2):  # from the memo, too
        assert transform(signal).stride() == strides
