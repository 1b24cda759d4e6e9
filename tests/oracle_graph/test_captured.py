"""Forward and backward graphs of real models: the same answers as PyTorch's estimator."""

import random
from functools import cache

import pytest
import torch
from comparing import (
    expect_same_aliases,
    expect_same_profile,
    expect_same_schedule,
    outcome,
    plain,
    valid_orders,
)
from models import MODELS, capture
from torch._inductor.fx_passes import memory_estimator as theirs

from tidemark.compat import memory_estimator as ours

capture_once = cache(capture)
BOTH = [(name, which) for name in MODELS for which in ("forward", "backward")]


@pytest.fixture(params=BOTH, ids=lambda pair: "-".join(pair))
def graph(request: pytest.FixtureRequest) -> torch.fx.Graph:
    name, which = request.param
    return capture_once(name)[which].graph


def test_profiles_and_aliases_are_equal(graph: torch.fx.Graph) -> None:
    expect_same_profile(graph)
    expect_same_aliases(list(graph.nodes))


def test_levels_are_equal_under_six_valid_orders(graph: torch.fx.Graph) -> None:
    for order in valid_orders(graph, 6):
        expect_same_schedule(graph, order, is_valid=True)


def test_invalid_orders_raise_alike(graph: torch.fx.Graph) -> None:
    chance = random.Random(1)
    for _ in range(5):
        order = list(graph.nodes)
        chance.shuffle(order)
        expect_same_schedule(graph, order)
        expect_same_aliases(order)
    expect_same_schedule(graph, list(reversed(graph.nodes)))


@pytest.mark.parametrize("name", ["mlp", "attention", "in_place"])
@pytest.mark.parametrize("which", ["forward", "backward"])
def test_symbolic_sizes_are_counted_by_their_hints(name: str, which: str) -> None:
    graph = capture_once(name, dynamic=True)[which].graph
    expect_same_profile(graph)
    for order in valid_orders(graph, 5):
        expect_same_schedule(graph, order, is_valid=True)


def test_a_size_function_of_the_callers_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = capture_once("attention", dynamic=True)["forward"].graph

    def size_of(size: int | torch.SymInt) -> int:
        return (int(size) + 511) // 512 * 512

    assert ours.build_memory_profile(graph, ours._is_releasable, size_of) == theirs.build_memory_profile(
        graph, theirs._is_releasable, size_of
    )


def test_the_default_filter_leaves_out_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = capture_once("mlp")["forward"].graph
    monkeypatch.undo()
    assert theirs.device_filter(torch.device("meta")) and ours.device_filter(torch.device("meta"))
    assert not theirs.device_filter(torch.device("cpu")) and not ours.device_filter(torch.device("cpu"))
    assert set(ours.build_memory_profile(graph, ours._is_releasable)) == {0}
    assert ours.MemoryTracker(graph).current_memory_bytes == theirs.MemoryTracker(graph).current_memory_bytes == 0


def test_what_a_callers_function_raises_comes_through() -> None:
    graph = capture_once("mlp")["forward"].graph

    def broken(node: torch.fx.Node) -> bool:
        raise ZeroDivisionError(node.name)

    assert outcome(lambda: ours.build_memory_profile(graph, broken)) == outcome(
        lambda: theirs.build_memory_profile(graph, broken)
    )


def test_a_node_of_another_graph_is_unknown_alike() -> None:
    graphs = capture_once("mlp")
    stranger = next(n for n in graphs["backward"].graph.nodes if n.op == "call_function")
    their, our = (module.MemoryTracker(graphs["forward"].graph) for module in (theirs, ours))
    assert outcome(lambda: our.schedule_node(stranger)) == outcome(lambda: their.schedule_node(stranger))
    their_aliases, our_aliases = their.alias_tracker, our.alias_tracker
    for ask in ("get_fresh_allocations", "get_storage_uses"):
        expected = outcome(lambda: getattr(their_aliases, ask)(stranger))
        assert outcome(lambda: getattr(our_aliases, ask)(stranger)) == expected
    assert plain(our_aliases.get_storages_last_used(stranger)) == []
