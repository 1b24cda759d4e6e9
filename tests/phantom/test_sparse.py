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
    lambda x: x.to_sparse().index_select(0, torch.tensor([1], device="cuda")),
    lambda x: x.to_sparse_csr() + x.to_sparse_csr(),
    lambda x: x.to_sparse_bsr((2, 2)),
    lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8),
], ids=["select", "sum of compressed rows", "blocks", "quantized"])
@pytest.mark.filterwarnings("ignore")  # PyTorch's: a beta, a deprecation
def test_what_has_no_rule_names_operator_and_line(open_session: Any, program: Any) -> None:
    open_session()
    with pytest.raises(NotImplementedError, match=r"aten::.* virtual GPU, at .*test_sparse.py:\d+"):
        program(torch.eye(4, dtype=torch.int64, device="cuda"))


NODES = 5
EDGES = [[0, 1, 2, 2, 4, 4], [1, 2, 0, 0, 3, 1]]  # one of them twice


class Graph:
    """An adjacency matrix and features, as graph nets have them; five edges are different."""

    def __init__(self, device: str) -> None:
        edges = torch.tensor(EDGES)
        self.matrix = torch.sparse_coo_tensor(edges, torch.ones(len(EDGES[0])), (NODES, NODES)).to(device)
        self.weighted = self.matrix.clone().requires_grad_()
        self.rows = self.matrix.cpu().to_sparse_csr().to(device)
        self.features = torch.ones(NODES, WIDTH, device=device, requires_grad=True)
        self.batch = torch.stack([self.matrix.cpu().to_dense()] * 2).to_sparse().to(device)
        self.device = device

    def gradients(self, result: torch.Tensor, *leaves: torch.Tensor) -> list[Any]:
        result.sum().backward()
        return [leaf.grad for leaf in leaves]

    def bag(self, mode: str) -> Any:
        table = nn.EmbeddingBag(WORDS, WIDTH, mode=mode, sparse=True, device=self.device)
        ids, offsets = torch.tensor(IDS, device=self.device), torch.tensor([0, 3], device=self.device)
        return self.gradients(table(ids, offsets), table.weight)


PRODUCTS: dict[str, Callable[[Graph], Any]] = {
    "sparse.mm": lambda g: torch.sparse.mm(g.matrix, g.features),
    "spmm": lambda g: torch.spmm(g.matrix, g.features),
    "matmul": lambda g: g.matrix @ g.features,
    "transposed": lambda g: g.matrix.t() @ g.features,
    "from the right": lambda g: g.features.t() @ g.matrix,
    "vector": lambda g: g.matrix.mv(g.features[:, 0]),
    "addmm": lambda g: torch.sparse.addmm(g.features, g.matrix, g.features),
    "batched": lambda g: torch.bmm(g.batch, g.features.expand(2, NODES, WIDTH)),
    "two sparse": lambda g: torch.sparse.mm(g.matrix, g.matrix),
    "softmax": lambda g: torch.sparse.softmax(g.matrix, 1),
    "backward": lambda g: g.gradients(torch.sparse.mm(g.matrix, g.features), g.features),
    "backward of weights": lambda g: g.gradients(torch.sparse.mm(g.weighted, g.features), g.weighted),
    "backward of softmax": lambda g: g.gradients(
        torch.sparse.softmax(g.weighted, 1).to_dense(), g.weighted),
    "rows": lambda g: g.matrix.to_sparse_csr(),
    "rows of dense": lambda g: torch.eye(NODES, device=g.device).to_sparse_csr(),
    "columns": lambda g: g.matrix.to_sparse_csc(),
    "rows and columns": lambda g: [g.rows.to_sparse_csc(), g.rows.to_sparse_csc().to_sparse_csr()],
    "rows as coordinates": lambda g: g.rows.to_sparse_coo(),
    "rows as dense": lambda g: g.rows.to_dense(),
    "rows made here": lambda g: torch.sparse_csr_tensor(
        g.rows.crow_indices(), g.rows.col_indices(), g.rows.values(), (NODES, NODES)),
    "rows halved": lambda g: g.rows.half(),
    "rows scaled": lambda g: g.rows * 2,
    "rows times": lambda g: g.rows @ g.features,
    "rows times vector": lambda g: g.rows @ g.features[:, 0],
    "columns times": lambda g: g.rows.t() @ g.features,
    "backward of rows": lambda g: g.gradients(g.rows @ g.features, g.features),
    "sampled": lambda g: torch.sparse.sampled_addmm(g.rows, g.features, g.features.t()),
    "sum bag": lambda g: g.bag("sum"),
    "mean bag": lambda g: g.bag("mean"),
}


def parts(value: Any) -> Any:
    """Shapes of a result and of its parts, with the indices, which are known."""
    if isinstance(value, list):
        return [parts(one) for one in value]
    found: list[Any] = [value.layout, value.shape, value.dtype, value.requires_grad]
    if value.layout == torch.sparse_coo:
        found += [value._nnz(), value.is_coalesced(), value._values().shape, value._indices().tolist()]
    elif value.layout == torch.sparse_csr:
        found += [value._nnz(), value.crow_indices().tolist(), value.col_indices().tolist()]
    elif value.layout == torch.sparse_csc:
        found += [value._nnz(), value.ccol_indices().tolist(), value.row_indices().tolist()]
    return found


@pytest.mark.filterwarnings("ignore")  # PyTorch's: a beta
@pytest.mark.parametrize("program", PRODUCTS.values(), ids=PRODUCTS)
def test_products_have_the_shapes_and_indices_of_the_cpu(
    open_session: Any, program: Callable[[Graph], Any]
) -> None:
    expected = parts(program(Graph("cpu")))
    open_session()
    assert parts(program(Graph("cuda"))) == expected


@pytest.mark.filterwarnings("ignore")
def test_values_of_a_product_are_not_known(open_session: Any) -> None:
    library = open_session()
    graph = Graph("cuda")
    out = torch.zeros(NODES, WIDTH, device="cuda")
    results = [torch.sparse.mm(graph.matrix, graph.features), out.addmm_(graph.matrix, out),
               torch.zeros(NODES, NODES, device="cuda").add_(graph.matrix), (graph.rows * 2).values()]
    for result in results:
        assert library.certainty(result.untyped_storage()._cdata) == "unknown"


def entries(count: int, rows: int, columns: int) -> torch.Tensor:
    """Doubles among them, in no order."""
    generator = torch.Generator().manual_seed(count)
    return torch.stack([torch.randint(rows, (count,), generator=generator),
                        torch.randint(columns, (count,), generator=generator)])


def test_coalesced_indices_are_those_of_the_cpu_in_its_order(open_session: Any) -> None:
    indices = entries(500, 20, 30)
    expected = torch.sparse_coo_tensor(indices, torch.ones(500), (20, 30)).coalesce().indices()
    open_session()
    made = torch.sparse_coo_tensor(indices.cuda(), torch.ones(500, device="cuda"), (20, 30)).coalesce()
    assert 300 < expected.shape[1] < 500
    assert made.indices().tolist() == expected.tolist()
    assert made.t().coalesce().indices().tolist() == expected.flip(0)[:, expected[1].argsort(stable=True)].tolist()


@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (3, 4, 2), (0, 4)])
def test_few_indices_in_any_number_of_dimensions_are_coalesced(open_session: Any, shape: tuple[int, ...]) -> None:
    count = 0 if 0 in shape else 3
    indices = torch.tensor([[size - 1] * 2 + [0] for size in shape], dtype=torch.long).reshape(len(shape), 3)[:, :count]
    expected = torch.sparse_coo_tensor(indices, torch.ones(count), shape).coalesce()
    open_session()
    made = torch.sparse_coo_tensor(indices.cuda(), torch.ones(count, device="cuda"), shape).coalesce()
    assert facts(made) == facts(expected)
    assert made.indices().tolist() == expected.indices().tolist()


def taken(call: Callable[[], torch.Tensor]) -> int:
    """What a call had at its peak beyond what it leaves, rounded to the allocator's 512 bytes."""
    torch.cuda.reset_peak_memory_stats()
    result = call()
    peak, left = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    assert result.is_cuda
    return peak - left


def test_a_product_takes_compressed_rows_and_its_result_in_columns(open_session: Any) -> None:
    """As PyTorch's kernel: 32-bit numbers for rows + 1 and for each entry, and the result twice more: the zeros
    that the product is added to, and in columns."""
    open_session()
    indices = torch.arange(2048).repeat(2, 1)
    sparse = torch.sparse_coo_tensor(indices, torch.ones(2048), (2048, 4096)).coalesce().cuda()
    dense, in_columns = torch.ones(4096, 64, device="cuda"), torch.ones(64, 4096, device="cuda").t()
    numbers = 2048 * 4 + 512 + 2048 * 4  # 2 049 numbers for the rows take a block of 512 bytes more
    result = 2 * 2048 * 64 * 4
    assert taken(lambda: torch.spmm(sparse, dense)) == numbers + result
    assert taken(lambda: torch.spmm(sparse, in_columns)) == numbers + result
    with_gaps = torch.ones(4096, 128, device="cuda")[:, ::2]
    assert taken(lambda: torch.spmm(sparse, with_gaps)) == numbers + result + with_gaps.nbytes
    column = torch.ones(4096, 1, device="cuda")
    assert taken(lambda: torch.spmm(sparse, column)) == numbers + 2 * 2048 * 4
    empty = torch.sparse_coo_tensor(indices[:, :0], torch.ones(0), (2048, 4096)).cuda()
    assert taken(lambda: torch.spmm(empty, dense)) == result // 2


def test_coalescing_takes_one_number_for_each_entry_some_times_over(open_session: Any) -> None:
    """Multiplied indices, their sums, places, beginnings, and the sort's second pair."""
    open_session()
    entries_there = torch.arange(4096).repeat(2, 1)
    sparse = torch.sparse_coo_tensor(entries_there.cuda(), torch.ones(4096, device="cuda"), (4096, 4096))
    number = 4096 * 8
    assert taken(sparse.coalesce) == 3 * number  # the sort is over when the result is born
    flat = torch.sparse_coo_tensor(entries_there[:1].cuda(), torch.ones(4096, device="cuda"), (4096,))
    assert taken(flat.coalesce) == 4 * number - 4096 * 4  # the sort needs most; its first number is the result's
