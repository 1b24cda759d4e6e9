"""What CUDA would capture or compile runs as it stands: CUDA graphs, TorchScript's fused functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn


def test_a_capture_runs_once_and_replays_allocate_nothing(open_session: Callable[..., Any]) -> None:
    library = open_session()
    model, x = nn.Linear(256, 256).cuda(), torch.ones(4, 256, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="before anything was captured"):
        graph.replay()
    with torch.cuda.graph(graph, pool=torch.cuda.graph_pool_handle()):
        assert torch.cuda.is_current_stream_capturing()
        y = model(x)
    assert not torch.cuda.is_current_stream_capturing()
    births = library.births()
    for _ in range(3):
        graph.replay()
    assert library.births() == births
    assert y.shape == (4, 256) and graph.pool() is not None
    assert [note["code"] for note in library.diagnostics()] == ["cuda-graph"]


def test_an_optimizer_that_is_captured_must_be_capturable(gpus: Any) -> None:
    """As with a real graph."""
    weight = torch.ones(4, device="cuda", requires_grad=True)
    weight.sum().backward()
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="capturable"), torch.cuda.graph(graph):
        torch.optim.Adam([weight]).step()
    with torch.cuda.graph(graph):
        torch.optim.Adam([weight], capturable=True).step()


def test_graphed_callables_train(gpus: Any) -> None:
    model, x = nn.Linear(8, 8).cuda(), torch.ones(4, 8, device="cuda")
    graphed = torch.cuda.make_graphed_callables(model, (x,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        graphed(x).sum().backward()
        assert model.weight.grad is not None and model.weight.grad.shape == (8, 8)
        optimizer.step()


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_scripted_functions_run_without_the_fuser(gpus: Any) -> None:
    @torch.jit.script
    def gated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * y + 1).sigmoid() * x

    x = torch.ones(64, 64, device="cuda", requires_grad=True)
    for _ in range(4):  # it is optimized from the third on
        gated(x, x).sum().backward()
    assert x.grad is not None and x.grad.is_cuda
    assert not torch._C._jit_can_fuse_on_gpu()
