"""Tensors that do not lie as cuDNN reads them are copied inside a convolution, and the copies count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from workspace_questions import bytes_taken

SIDES = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)


@pytest.fixture
def h200(open_session: Callable[..., Any]) -> Any:
    return open_session(1, "h200")


def backward(gradient: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> int:
    return bytes_taken(lambda: torch.ops.aten.convolution_backward(
        gradient, x, w, None, *SIDES, [True, True, False]))[0]


@pytest.mark.usefixtures("h200")
def test_half_of_a_concatenation_is_copied_before_its_backward() -> None:
    x, w = torch.empty(8, 64, 96, 96, device="cuda"), torch.empty(64, 64, 3, 3, device="cuda")
    whole, both = torch.empty_like(x), torch.empty(8, 128, 96, 96, device="cuda")
    assert backward(both[:, 64:], x, w) == backward(whole, x, w) + whole.nbytes


@pytest.mark.usefixtures("h200")
def test_planes_are_laid_out_for_a_weight_that_is_channels_last() -> None:
    planes = torch.empty(8, 64, 96, 96, device="cuda", dtype=torch.float16)
    last = planes.contiguous(memory_format=torch.channels_last)
    w = torch.empty(64, 64, 3, 3, device="cuda", dtype=torch.float16).contiguous(memory_format=torch.channels_last)
    taken = {name: bytes_taken(lambda x=x: torch.ops.aten.convolution(x, w, None, *SIDES))[0]
             for name, x in (("planes", planes), ("last", last))}
    assert taken["planes"] == taken["last"] + planes.nbytes


@pytest.mark.usefixtures("h200")
def test_sequences_that_are_turned_are_copied() -> None:
    turned = torch.empty(4, 500, 64, device="cuda").transpose(1, 2)
    w, how = torch.empty(64, 64, 3, device="cuda"), ([1], [1], [1], False, [0], 1)
    taken = [bytes_taken(lambda x=x: torch.ops.aten.convolution(x, w, None, *how))[0]
             for x in (turned, turned.contiguous())]
    assert taken[0] == taken[1] + turned.nbytes
