"""Nested tensors: jagged ones run, strided ones are refused, and an encoder keeps its padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

ROWS, LENGTH, WIDTH = 4, 10, 64


def test_an_encoder_in_evaluation_keeps_its_padding(gpus: Any) -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, batch_first=True), 2).cuda().eval()
    padding = torch.arange(LENGTH, device="cuda").expand(ROWS, LENGTH) >= 6
    with torch.no_grad():
        out = encoder(torch.randn(ROWS, LENGTH, WIDTH, device="cuda"), src_key_padding_mask=padding)
    assert out.shape == (ROWS, LENGTH, WIDTH) and not out.is_nested
    assert [one["code"] for one in gpus.diagnostics()] == ["padding-kept"]


def test_jagged_ones_train(gpus: Any) -> None:
    rows = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], layout=torch.jagged, device="cuda")
    layer = nn.Linear(8, 8).cuda()
    layer(rows).sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.shape == (8, 8)


@pytest.mark.parametrize("make", [
    lambda x: torch.nested.nested_tensor([x[0], x[1, :2]]),
    lambda x: torch.nested.as_nested_tensor([x[0], x[1, :2]]),
    lambda x: torch._nested_tensor_from_mask(x, torch.ones(x.shape[:2], dtype=torch.bool, device="cuda")),
], ids=["made", "viewed", "from mask"])
def test_strided_ones_are_refused(gpus: Any, make: Callable[[torch.Tensor], torch.Tensor]) -> None:
    with pytest.raises(NotImplementedError, match=r"test_nested_tensors\.py:\d+: there are no nested tensors"):
        make(torch.zeros(2, 4, 8, device="cuda"))
