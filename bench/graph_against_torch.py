"""Static graphs against PyTorch's estimator: both in one process, ratios in one table.

    python bench/graph_against_torch.py [--nodes 1000 10000 100000]
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable

import torch
import torch.fx as fx
import torch.nn as nn
from torch._inductor.fx_passes import memory_estimator as theirs
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_map

import tidemark
import tidemark.graphs
from tidemark.compat import memory_estimator as ours

MOVES = 20_000


def timed(work: Callable[[], object], times: int) -> tuple[float, object]:
    """The fastest of some runs, and what the last returned."""
    best, result = float("inf"), None
    gc.collect()
    gc.disable()  # for both sides: a collection in the middle is noise
    for _ in range(times):
        begin = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begin)
    gc.enable()
    return best, result


class Block(nn.Module):
    """A transformer's layer."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.norm, self.project = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.out, self.second = nn.Linear(width, width), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.project(self.norm(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in parts)
        mixed = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(-2))
        return x + self.feed(self.second(x))


def capture(layers: int) -> fx.Graph:
    """Forward and backward of some layers, traced with fake tensors on the meta device."""
    with torch.device("meta"):
        model, x = nn.Sequential(*(Block() for _ in range(layers))), torch.empty(2, 16, 64)
    parameters = dict(model.named_parameters())

    def step(parameters: dict[str, torch.Tensor], x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        loss = torch.func.functional_call(model, parameters, (x,)).sum()
        return torch.autograd.grad(loss, list(parameters.values()))

    return make_fx(step, tracing_mode="fake")(parameters, x).graph


def captured(nodes: int) -> fx.Graph:
    """A capture of about this many nodes."""
    one, two = (len(capture(layers).nodes) for layers in (1, 2))
    return capture(max(1, round((nodes - one) / (two - one)) + 1))


def repeated(layer: fx.Graph, nodes: int) -> fx.Graph:
    """A captured layer again and again, each time with storages of its own."""
    graph = fx.Graph()
    inner = [node for node in layer.nodes if node.op == "call_function"]
    inputs = [node for node in layer.nodes if node.op == "placeholder"]
    mode = inputs[0].meta["val"].fake_mode
    known = {node: copy_input(graph, node) for node in inputs}
    fixed = {storage_of(node.meta["val"]): node.meta["val"] for node in inputs}
    last: fx.Node | None = None
    while len(graph.nodes) < nodes:
        fresh = dict(fixed)
        here = dict(known)
        for node in inner:
            here[node] = graph.node_copy(node, lambda n: here[n])
            here[node].meta = {"val": tree_map(lambda v: renewed(v, fresh, mode), node.meta.get("val"))}
        last = here[inner[-1]]
    graph.output((last,))
    return graph


def copy_input(graph: fx.Graph, node: fx.Node) -> fx.Node:
    copy = graph.placeholder(node.name)
    copy.meta = dict(node.meta)
    return copy


def storage_of(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def renewed(value: object, fresh: dict[int, torch.Tensor], mode: FakeTensorMode) -> object:
    """A tensor like this one, on a storage that is new for each repetition."""
    if not isinstance(value, FakeTensor):
        return value
    address = storage_of(value)
    with mode:
        if address not in fresh:
            fresh[address] = torch.empty(value.untyped_storage().nbytes(), dtype=torch.uint8, device=value.device)
            return fresh[address]
        return fresh[address].view(-1) if fresh[address].is_contiguous() else fresh[address].t()


def fan_out(users: int) -> fx.Graph:
    """Many nodes on one input."""
    graph = fx.Graph()
    with FakeTensorMode():
        x = graph.placeholder("x")
        x.meta["val"] = torch.empty(16, device="meta")
        for _ in range(users):
            node = graph.call_function(torch.ops.aten.neg.default, (x,))
            node.meta["val"] = torch.empty(16, device="meta")
        graph.output(())
    return graph


class Table:
    def __init__(self) -> None:
        self.missed = 0
        print(f"{'':46}{'PyTorch':>12}{'Tidemark':>12}{'ratio':>10}{'wanted':>10}")

    def row(self, name: str, their: float, our: float, wanted: float) -> None:
        ratio = their / our
        self.missed += ratio < wanted
        print(f"{name:46}{show(their):>12}{show(our):>12}{ratio:>9,.0f}x{wanted:>9,.0f}x{'' if ratio >= wanted else '  MISSED'}", flush=True)


def show(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def schedule_all(tracker: object, nodes: list[fx.Node]) -> object:
    schedule = tracker.schedule_node
    for node in nodes:
        schedule(node)
    return tracker.peak_memory


def releasable_like_torch(graph: fx.Graph) -> list[bool]:
    return [not node.name.startswith("primals") for node in graph.nodes]


def compare_profiles(table: Table, label: str, graph: fx.Graph, repeats: int) -> float:
    their, expected = timed(lambda: theirs.build_memory_profile(graph, theirs._is_releasable), repeats)
    our, found = timed(lambda: ours.build_memory_profile(graph, ours._is_releasable), 5)
    assert found == expected
    table.row(f"{label}: profile, conversion included", their, our, 20)
    native = tidemark.graphs.read_fx(graph, text=False)
    accounts = native.accounts(releasable=releasable_like_torch(graph))
    our, levels = timed(accounts.profile, 9)
    assert levels.tolist() == expected
    table.row(f"{label}: profile of a converted graph", their, our, 500)
    return their


def compare_schedules(table: Table, label: str, graph: fx.Graph) -> None:
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    repeats = 3 if len(nodes) < 20_000 else 1
    trackers = [theirs.MemoryTracker(graph) for _ in range(repeats)]
    their, expected = timed(lambda: schedule_all(trackers.pop(), nodes), repeats)
    trackers = [ours.MemoryTracker(graph) for _ in range(3)]
    our, found = timed(lambda: schedule_all(trackers.pop(), nodes), 3)
    assert found == expected
    table.row(f"{label}: a whole order, node by node", their, our, 20)
    native = tidemark.graphs.read_fx(graph, text=False)
    accounts = native.accounts(releasable=releasable_like_torch(graph))
    order = native.compute_nodes()
    schedules = [accounts.schedule() for _ in range(5)]
    our, levels = timed(lambda: schedules.pop().schedule_all(order), 5)
    assert levels[-1][1] == expected
    table.row(f"{label}: a whole order in one call", their, our, 300)


def compare_moves(table: Table, label: str, graph: fx.Graph, their_profile: float) -> None:
    """Moves of random nodes to random places that their inputs and users allow."""
    native = tidemark.graphs.read_fx(graph, text=False)
    order = native.accounts().order()
    nodes, chance = native.compute_nodes().tolist(), random.Random(0)
    moves = []
    while len(moves) < MOVES:
        node, place = chance.choice(nodes), chance.choice(nodes)
        if node != place and order.can_move_before(node, place):
            moves.append((node, place))
    done = 0
    begin = time.perf_counter()
    for node, place in moves:
        try:
            order.move_before(node, place)
            done += 1
        except tidemark.Error:
            pass  # an earlier move took its place away
    our = (time.perf_counter() - begin) / len(moves)
    assert done > MOVES // 10
    assert order.peak == int(native.accounts().profile(order.nodes).max())
    table.row(f"{label}: one move, against a new profile", their_profile, our, 10_000)


def compare_fan_out(table: Table) -> None:
    for users in (1000, 8000):
        graph = fan_out(users)
        nodes = [node for node in graph.nodes if node.op == "call_function"]
        tracker, our_tracker = theirs.MemoryTracker(graph), ours.MemoryTracker(graph)
        their, expected = timed(lambda: schedule_all(tracker, nodes), 1)
        our, found = timed(lambda: schedule_all(our_tracker, nodes), 1)
        assert found == expected
        table.row(f"{users} nodes on one input, node by node", their, our, their / 0.010 if users == 8000 else 20)
        native = tidemark.graphs.read_fx(graph, text=False)
        schedule, order = native.accounts().schedule(), native.compute_nodes()
        our, _ = timed(lambda: schedule.schedule_all(order), 1)
        table.row(f"{users} nodes on one input, in one call", their, our, 300)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    sizes = parser.parse_args().nodes
    table = Table()
    layer = capture(1)
    for size in sizes:
        graph = captured(size) if size <= 10_000 else repeated(layer, size)
        label = f"{len(graph.nodes):,} nodes"
        profile = compare_profiles(table, label, graph, 3 if size <= 10_000 else 1)
        compare_schedules(table, label, graph)
        compare_moves(table, label, graph, profile) if size == 10_000 else None
    compare_fan_out(table)
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
