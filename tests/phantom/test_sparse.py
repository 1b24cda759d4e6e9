"""Sparse tensors on virtual GPUs: gradients of embeddings, and the optimizers that take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

WORDS, WIDTH = 1000, 64
IDS = [3, 5, 3, 7, 5, 3, 999, 0]  # five different ones


def trained(device: str, make_optimizer: Callable[[Any], Any], steps: int = 2) -> nn.Embedding:
    table = nn.Embedding(WORDS, WIDTH, sparse=True, device=device)
    optimizer = make_optimizer(table.parameters())
    for step in range(steps):
        optimizer.zero_grad()
        table(torch.tensor(IDS, device=device)).square().sum().backward()
        optimizer.step()
    return table


def facts(sparse: torch.Tensor) -> Any:
    return (sparse.layout, tuple(sparse.shape), sparse.dtype, sparse._nnz(), sparse.sparse_dim(),
            sparse.dense_dim(), sparse.is_coalesced(), tuple(sparse._indices().shape),
            tuple(sparse._values().shape))


@pytest.mark.parametrize("make_optimizer", [
    lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    lambda parameters: torch.optim.SGD(parameters, lr=0.1, foreach=False),
    lambda parameters: torch.optim.SparseAdam(list(parameters)),
    lambda parameters: torch.optim.Adagrad(parameters),
], ids=["SGD", "SGD loop", "SparseAdam", "Adagrad"])
def test_optimizers_leave_what_they_leave_on_the_cpu(
    open_session: Callable[..., Any], make_optimizer: Callable[[Any], Any]
) -> None:
    expected = facts(trained("cpu", make_optimizer).weight.grad)
    open_session()
    table = trained("cuda", make_optimizer)
    assert table.weight.grad is not None and table.weight.grad.is_cuda
    assert facts(table.weight.grad) == expected


def both(open_session: Callable[..., Any], program: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The program's facts on the CPU and on a virtual GPU."""
    def sparse(device: str) -> torch.Tensor:
        indices = torch.tensor([IDS], device=device)
        values = torch.ones(len(IDS), WIDTH, device=device)
        return torch.sparse_coo_tensor(indices, values, (WORDS, WIDTH))

    expected = program(sparse("cpu"))
    open_session()
    return expected, program(sparse("cuda"))


@pytest.mark.parametrize("program", [
    lambda s: s.coalesce(), lambda s: s * 2, lambda s: s.clone(), lambda s: -s,
    lambda s: s.coalesce() * s.coalesce(), lambda s: s.detach(), lambda s: s.cuda() if s.is_cuda else s,
    lambda s: torch.cat([s, s]), lambda s: s.to(torch.float16), lambda s: s.coalesce().sqrt(),
], ids=["coalesce", "scale", "clone", "neg", "mul", "detach", "move", "cat", "cast", "sqrt"])
def test_operators_have_the_shapes_of_the_cpu(open_session: Any, program: Any) -> None:
    expected, ours = both(open_session, program)
    assert facts(ours) == facts(expected)


@pytest.mark.parametrize("program", [
    lambda s: s.to_dense(), lambda s: s.coalesce().values(),
    lambda s: torch.ones(WORDS, WIDTH, device=s.device).add_(s),
    lambda s: torch.ones(WORDS, WIDTH, device=s.device) + s,
    lambda s: torch.ones(WORDS, WIDTH, device=s.device).sparse_mask(s.coalesce()).values(),
], ids=["to_dense", "values", "add_", "add", "sparse_mask"])
def test_dense_results_have_the_shapes_of_the_cpu(open_session: Any, program: Any) -> None:
    expected, ours = both(open_session, program)
    assert ours.is_cuda
    assert (ours.shape, ours.stride(), ours.dtype) == (
        expected.shape, expected.stride(), expected.dtype)


def test_a_sum_keeps_the_values_of_both(open_session: Any) -> None:
    """CUDA puts them one after the other, where the CPU merges what comes in the same order."""
    expected, ours = both(open_session, lambda s: s + s)
    assert expected._nnz() == len(IDS)
    assert ours._nnz() == 2 * len(IDS)
    assert ours.coalesce()._nnz() == 5


def test_dense_to_sparse_finds_known_values(open_session: Any) -> None:
    open_session()
    assert torch.eye(4, dtype=torch.int64, device="cuda").to_sparse()._nnz() == 4


def test_known_indices_stay_known(open_session: Any) -> None:
    expected, ours = both(open_session, lambda s: s.coalesce().indices())
    assert ours.tolist() == expected.tolist() == [[0, 3, 5, 7, 999]]


@pytest.mark.parametrize("program", [
    lambda x: torch.sparse.mm(x.to_sparse(), x),
    lambda x: x.to_sparse_csr(),
    lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8),
], ids=["sparse product", "compressed rows", "quantized"])
@pytest.mark.filterwarnings("ignore")  # PyTorch's: a beta, a deprecation
def test_what_has_no_rule_names_operator_and_line(open_session: Any, program: Any) -> None:
    open_session()
    with pytest.raises(NotImplementedError, match=r"aten::.* virtual GPU, at .*test_sparse.py:\d+"):
        program(torch.eye(4, dtype=torch.int64, device="cuda"))
