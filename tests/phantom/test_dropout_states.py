"""What cuDNN keeps for the dropout of recurrent nets: as seen on an H200."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tidemark.virtual_cuda import close_gpus

# By how much torch.cuda.memory_allocated() rose for good in a GRU and an LSTM with dropout (torch 2.11).
SEEN = 6_488_064


@pytest.fixture
def h200(open_session: Callable[..., Any], no_library_workspaces: None) -> Any:
    return open_session(1, "h200")


def kept(kind: type[torch.nn.RNNBase], dropout: float, training: bool = True) -> int:
    """What stays of a net's call, its results dropped."""
    net = kind(16, 16, 2, dropout=dropout).cuda().train(training)
    sequence = torch.empty(5, 3, 16, device="cuda")
    before = torch.cuda.memory_allocated()
    net(sequence)
    return torch.cuda.memory_allocated() - before


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_the_first_net_with_dropout_keeps_random_states(kind: type[torch.nn.RNNBase]) -> None:
    assert kept(kind, 0.0) == 0
    assert kept(kind, 0.2, training=False) == 0
    assert kept(kind, 0.2) == SEEN
    assert kept(kind, 0.5) == 0


def test_a_gpu_keeps_as_much_for_each_multiprocessor(open_session: Callable[..., Any]) -> None:
    open_session(1, "a100-40gb")
    assert kept(torch.nn.GRU, 0.2) == SEEN // 132 * torch.cuda.get_device_properties(0).multi_processor_count


def test_the_next_session_begins_without(open_session: Callable[..., Any]) -> None:
    for _ in range(2):
        open_session(1, "h200")
        assert kept(torch.nn.GRU, 0.2) == SEEN
        close_gpus()
