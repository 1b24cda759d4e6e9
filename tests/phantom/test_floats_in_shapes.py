"""Shapes that follow from a float beside tensors: the memo must not give the first one's to all."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

pytestmark = pytest.mark.usefixtures("gpus")


@torch.library.custom_op("tidemark_tests::stretch", mutates_args=())
def stretch(x: torch.Tensor, factor: float, factors: list[float]) -> torch.Tensor:
    raise NotImplementedError


@stretch.register_fake
def _(x: torch.Tensor, factor: float, factors: list[float]) -> torch.Tensor:
    return x.new_empty(int(x.shape[0] * factor * sum(factors)))


def test_operators_of_other_libraries_are_remembered_with_their_floats() -> None:
    x = torch.empty(10, device="cuda")
    for _ in range(2):
        assert [stretch(x, f, [1.0]).numel() for f in (2.5, 3.5, 4.0)] == [25, 35, 40]
        assert [stretch(x, 2.0, [f, 0.5]).numel() for f in (2.0, 3.0)] == [50, 70]


def test_so_are_the_few_of_pytorch_that_need_it() -> None:
    image = torch.empty(1, 3, 8, 8, device="cuda")
    sizes = [F.interpolate(image, scale_factor=f).shape[-1] for f in (1.5, 2.5, 1.5, 4.0)]
    assert sizes == [12, 20, 12, 32]
    out = torch.empty(5, device="cuda")
    assert torch.arange(0, 2.5, 0.5, out=out).numel() == 5
    assert torch.arange(0, 3.5, 0.5, out=torch.empty(5, device="cuda")).numel() == 7
