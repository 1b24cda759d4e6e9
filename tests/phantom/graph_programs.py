"""Programs around CUDA graphs and memory pools, which tell after each of their stages."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

MIB = 1 << 20

Tell = Callable[[str], None]


def perceptron(width: int = 1024, layers: int = 3) -> Any:
    from torch import nn

    rows: list[Any] = []
    for _ in range(layers):
        rows += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*rows, nn.Linear(width, 16)).cuda()


def warm_up(call: Callable[[], Any]) -> None:
    """As PyTorch's notes on graphs have it: on a stream of its own."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)


def one_capture(tell: Tell) -> None:
    import torch

    model, x = perceptron(), torch.zeros(2048, 1024, device="cuda")
    tell("made")
    with torch.no_grad():
        warm_up(lambda: model(x))
        tell("warm")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = model(x)
        tell("captured")
        for _ in range(2):
            graph.replay()
        tell("replayed")
        z = model(x)
        tell("run without it")
        del z
        torch.cuda.empty_cache()
        tell("emptied")
        assert y.shape == (2048, 16)


def captures(tell: Tell, share: bool) -> None:
    """Two models; the second needs more than the first."""
    import torch

    small, large = perceptron(1024), perceptron(1024, 5)
    x, w = torch.zeros(2048, 1024, device="cuda"), torch.zeros(6144, 1024, device="cuda")
    tell("made")
    with torch.no_grad():
        warm_up(lambda: (small(x), large(w)))
        tell("warm")
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(first):
            y = small(x)
        tell("first captured")
        with torch.cuda.graph(second, **({"pool": first.pool()} if share else {})):
            z = large(w)
        tell("second captured")
        first.replay()
        second.replay()
        kept = torch.zeros(64 * MIB, dtype=torch.uint8, device="cuda")
        tell("more is born")
        del first, y
        torch.cuda.empty_cache()
        tell("first is gone")
        del second, z
        torch.cuda.empty_cache()
        tell("second is gone")
        assert kept.is_cuda


def shared_pool(tell: Tell) -> None:
    captures(tell, share=True)


def own_pools(tell: Tell) -> None:
    captures(tell, share=False)


def handle_again(tell: Tell) -> None:
    """One handle for a graph after the other; at last for one that comes when the others are gone, which
    PyTorch refuses: cuBLAS has a workspace in their pool."""
    import torch

    handle = torch.cuda.graph_pool_handle()
    model, x = perceptron(), torch.zeros(4096, 1024, device="cuda")
    graphs: list[Any] = []
    with torch.no_grad():
        warm_up(lambda: model(x))
        tell("warm")
        for rows in (4096, 2048, 1024):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=handle):
                y = model(x[:rows])
            graphs.append((graph, y))
            tell(f"captured {rows}")
        del graph, y
        graphs.clear()
        tell("all are gone")
        again = torch.cuda.CUDAGraph()
        with torch.cuda.graph(again, pool=handle):
            z = model(x)
        tell("captured again")
        assert z.is_cuda


def reset(tell: Tell) -> None:
    import torch

    x = torch.zeros(32 * MIB, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x + 1) * 2
    tell("captured")
    big = torch.zeros(96 * MIB, dtype=torch.uint8, device="cuda")
    tell("more is born")
    del y
    tell("the result is dead")
    torch.cuda.empty_cache()
    tell("emptied")
    graph.reset()
    tell("reset")
    bigger = torch.zeros(200 * MIB, dtype=torch.uint8, device="cuda")
    tell("still more is born")
    torch.cuda.empty_cache()
    tell("emptied again")
    last = torch.zeros(160 * MIB, dtype=torch.uint8, device="cuda")
    tell("the last is born")
    assert big.is_cuda and bigger.is_cuda and last.is_cuda


def result_outlives(tell: Tell) -> None:
    """The graph is gone, its result is not: the segment stays, in a pool that nobody uses."""
    import torch

    x = torch.zeros(8 * MIB, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x + 1
        z = (y * 2).relu()
    tell("captured")
    del graph, y
    torch.cuda.empty_cache()
    tell("the graph is gone")
    more = torch.zeros(8 * MIB, device="cuda")
    tell("more is born")
    del z
    torch.cuda.empty_cache()
    tell("the result is gone")
    assert more.is_cuda


def graphed_callables(tell: Tell) -> None:
    import torch
    from torch import nn

    model, head = perceptron(), nn.Linear(16, 1).cuda()
    x = torch.zeros(2048, 1024, device="cuda")
    tell("made")
    graphed = torch.cuda.make_graphed_callables(model, (x,))
    tell("graphed")
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()])
    for step in range(3):
        optimizer.zero_grad()
        loss = head(graphed(torch.zeros(2048, 1024, device="cuda"))).sum()
        loss.backward()
        optimizer.step()
        tell(f"step {step}")


def two_graphed_callables(tell: Tell) -> None:
    import torch

    first, second = perceptron(1024, 2), perceptron(16, 2)
    x, y = torch.zeros(4096, 1024, device="cuda"), torch.zeros(4096, 16, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables((first, second), ((x,), (y,)))
    tell("graphed")
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        graphed[1](graphed[0](x)).sum().backward()
        optimizer.step()
        tell(f"step {step}")


def training_captured(tell: Tell) -> None:
    """A whole step in a graph: forward, backward, optimizer."""
    import torch

    model = perceptron()
    x, target = torch.zeros(2048, 1024, device="cuda"), torch.zeros(2048, 16, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    warm_up(step)
    tell("warm")
    optimizer.zero_grad(set_to_none=True)
    tell("without gradients")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    tell("captured")
    for _ in range(2):
        graph.replay()
    tell("replayed")
    assert loss.shape == ()


def capture_then_train(tell: Tell) -> None:
    """A captured model beside one that is trained as ever."""
    import torch

    teacher, student = perceptron(1024, 4), perceptron()
    x = torch.zeros(4096, 1024, device="cuda")
    with torch.no_grad():
        warm_up(lambda: teacher(x))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            wanted = teacher(x)
    tell("captured")
    optimizer = torch.optim.AdamW(student.parameters())
    for step in range(3):
        graph.replay()
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(student(x), wanted).backward()
        optimizer.step()
        tell(f"step {step}")
    del graph, wanted
    gc.collect()
    torch.cuda.empty_cache()
    tell("the graph is gone")


def random_captured(tell: Tell) -> None:
    """Dropout in a graph: the generator keeps its state on the GPU."""
    import torch
    from torch import nn

    dropout, x = nn.Dropout(0.5), torch.zeros(4 * MIB, device="cuda")
    warm_up(lambda: dropout(x))
    tell("warm")
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        y = dropout(x)
    tell("first captured")
    with torch.cuda.graph(second):
        z = dropout(x)
    tell("second captured")
    first.replay()
    second.replay()
    del first, y
    torch.cuda.empty_cache()
    tell("first is gone")
    del second, z
    torch.cuda.empty_cache()
    tell("second is gone")


def memory_pool(tell: Tell) -> None:
    """torch.cuda.MemPool: what this thread makes, and not what autograd's thread makes."""
    import torch

    pool = torch.cuda.MemPool()
    model, x = perceptron(), torch.zeros(2048, 1024, device="cuda")
    model(x).sum().backward()
    model.zero_grad(set_to_none=True)
    tell("warm")
    with torch.cuda.use_mem_pool(pool):
        loss = model(x).sum()
        tell("forward in the pool")
        loss.backward()
        tell("backward in the pool")
        torch.cuda.empty_cache()
        tell("emptied in the pool")
    more = torch.zeros(48 * MIB, dtype=torch.uint8, device="cuda")
    tell("more is born")
    del loss
    torch.cuda.empty_cache()
    tell("emptied")
    del pool
    tell("the pool is gone")
    assert more.is_cuda


PROGRAMS = (one_capture, shared_pool, own_pools, handle_again, reset, result_outlives, graphed_callables,
            two_graphed_callables, training_captured, capture_then_train, random_captured, memory_pool)
