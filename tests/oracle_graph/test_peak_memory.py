"""get_peak_memory and get_fwd_bwd_interactions: PyTorch's raise, so a slow reference is here."""

import operator
from functools import cache

import pytest
import torch
import torch.fx as fx
from models import MODELS, capture
from torch._inductor.fx_passes import memory_estimator as theirs
from torch._subclasses import FakeTensor
from torch.utils._pytree import tree_leaves

from tidemark.compat import memory_estimator as ours

capture_once = cache(capture)


def storages(value: object) -> dict[int, int]:
    """Address and bytes of every fake storage in a value, the CPU's left out."""
    return {
        leaf.untyped_storage()._cdata: leaf.untyped_storage().nbytes()
        for leaf in tree_leaves(value)
        if isinstance(leaf, FakeTensor) and leaf.device.type != "cpu"
    }


def slow_peak(graph: fx.Graph, kept: set[str]) -> int:
    """At each node, every storage is asked: was it there, is it still needed?"""
    nodes = list(graph.nodes)
    sizes: dict[int, int] = {}
    makers: dict[int, fx.Node] = {}
    for node in nodes:
        for address, size in storages(node.meta.get("val")).items():
            sizes[address] = size
            makers.setdefault(address, node)
    users = {a: [n for n in nodes if any(a in storages(i.meta.get("val")) for i in n.all_input_nodes)] for a in sizes}
    highest = sum(sizes[a] for a in sizes if makers[a].op in ("placeholder", "get_attr"))
    for at, now in enumerate(nodes):
        if now.op in ("placeholder", "get_attr", "output"):
            continue
        level = 0
        for address, size in sizes.items():
            maker = makers[address]
            is_there = maker.op in ("placeholder", "get_attr") or nodes.index(maker) <= at
            is_needed = (
                maker.name in kept
                or maker.name.startswith("primals")
                or not users[address]
                or any(nodes.index(user) >= at or user.op == "output" for user in users[address])
            )
            level += size if is_there and is_needed else 0
        highest = max(highest, level)
    return highest


def slow_interaction(forward: fx.Graph, backward: fx.Graph) -> tuple[int, set[str]]:
    primals: set[int] = set()
    for node in forward.find_nodes(op="placeholder"):
        if node.name.startswith("primals"):
            primals |= storages(node.meta["val"]).keys()
    returned: dict[int, int] = {}
    for node in forward.output_node().all_input_nodes:
        returned |= storages(node.meta.get("val"))
    taken: set[int] = set()
    kept: set[str] = set()
    for node in backward.find_nodes(op="placeholder"):
        own = storages(node.meta.get("val")).keys()
        taken |= own
        if own & primals or not own & returned.keys():
            kept.add(node.name)
    return sum(size for address, size in returned.items() if address not in taken), kept


def on_meta(graphs: dict[str, fx.GraphModule]) -> tuple[fx.Graph, fx.Graph]:
    """The pair with every fake tensor said to be on a device that counts."""
    for module in graphs.values():
        for node in module.graph.nodes:
            for leaf in tree_leaves(node.meta.get("val")):
                if isinstance(leaf, FakeTensor):
                    leaf.fake_device = torch.device("cuda", 0)
    return graphs["forward"].graph, graphs["backward"].graph


@pytest.mark.parametrize("name", list(MODELS))
def test_pairs_of_graphs_equal_the_slow_reference(name: str) -> None:
    forward, backward = on_meta(capture_once(name))
    baseline, kept = slow_interaction(forward, backward)
    assert ours.get_fwd_bwd_interactions(forward, backward) == (baseline, kept)
    expected = max(slow_peak(forward, set()), baseline + slow_peak(backward, kept))
    assert ours.get_peak_memory(forward, backward) == expected
    assert expected > 0


def test_pytorchs_own_still_raises() -> None:
    forward, backward = on_meta(capture_once("mlp"))
    with pytest.raises(TypeError):
        theirs.get_peak_memory(forward, backward)


def test_a_forward_graph_without_an_output_is_refused() -> None:
    graph = fx.Graph()
    graph.call_function(operator.add, (1, 2))
    with pytest.raises(AssertionError):
        ours.get_fwd_bwd_interactions(graph, graph)
