"""Asks both estimators the same questions and expects the same answers."""

import random
from collections.abc import Callable, Iterable

import torch.fx as fx
from torch._inductor.fx_passes import memory_estimator as theirs

from tidemark.compat import memory_estimator as ours


def outcome(question: Callable[[], object]) -> object:
    """The answer, or what was raised instead of one."""
    try:
        return question()
    except Exception as problem:  # noqa: BLE001  (whatever it is, the other must raise it too)
        return type(problem).__name__, [str(argument) for argument in problem.args]


def plain(keys: Iterable) -> list[tuple[int, str]]:
    """Storage keys of either estimator, in their order, comparable."""
    return [(key.storage._cdata, str(key.device)) for key in keys]


def expect_same_profile(graph: fx.Graph) -> None:
    expected = outcome(lambda: theirs.build_memory_profile(graph, theirs._is_releasable))
    assert outcome(lambda: ours.build_memory_profile(graph, ours._is_releasable)) == expected
    for releasable in (lambda n: True, lambda n: n.op not in ("placeholder", "get_attr"), lambda n: len(n.name) % 2):
        expected = outcome(lambda: theirs.build_memory_profile(graph, releasable))
        assert outcome(lambda: ours.build_memory_profile(graph, releasable)) == expected


def expect_same_aliases(nodes: list[fx.Node]) -> None:
    expected = outcome(lambda: theirs.GraphAliasTracker(nodes))
    found = outcome(lambda: ours.GraphAliasTracker(nodes))
    if isinstance(expected, tuple):
        assert found == expected
        return
    for node in nodes:
        assert plain(found.get_fresh_allocations(node)) == plain(expected.get_fresh_allocations(node))
        assert plain(found.get_storage_uses(node)) == plain(expected.get_storage_uses(node))
        assert plain(found.get_storages_last_used(node)) == plain(expected.get_storages_last_used(node))
        assert plain(found._get_output_storages(node)) == plain(expected._get_output_storages(node))
        assert plain(found._get_input_storages(node)) == plain(expected._get_input_storages(node))
    expect_same_maps(found, expected)


def expect_same_maps(found: ours.GraphAliasTracker, expected: theirs.GraphAliasTracker) -> None:
    for name in ("node_to_fresh_allocations", "node_to_storage_uses", "node_to_output_storages", "node_to_storages_last_used"):
        one, other = getattr(found, name), getattr(expected, name)
        assert {n: plain(keys) for n, keys in one.items() if keys} == {n: plain(keys) for n, keys in other.items() if keys}
    for name in ("storage_to_allocator", "storage_to_last_user"):
        one, other = getattr(found, name), getattr(expected, name)
        assert list(zip(plain(one), one.values())) == list(zip(plain(other), other.values())) or dict(
            zip(plain(one), one.values())
        ) == dict(zip(plain(other), other.values()))
    one, other = found.storage_to_uses, expected.storage_to_uses
    assert dict(zip(plain(one), map(list, one.values()))) == {
        key: list(users) for key, users in zip(plain(other), other.values()) if users
    }


def expect_same_schedule(graph: fx.Graph, order: list[fx.Node], is_valid: bool | None = None) -> None:
    """Levels and peaks equal after every node; where theirs raises, ours raises the same."""
    def count_all(device: object) -> bool:
        return True

    their, our = theirs.MemoryTracker(graph, device_filter=count_all), ours.MemoryTracker(graph, device_filter=count_all)
    for node in order:
        expected, found = outcome(lambda: their.schedule_node(node)), outcome(lambda: our.schedule_node(node))
        assert found == expected
        if expected is not None:
            assert not is_valid, f"a valid order was refused at {node}: {expected}"
            return
        assert our.current_memory_bytes == their.current_memory_bytes == our.get_current_memory_bytes()
        assert our.peak_memory == their.peak_memory
    assert plain(our.current_live_storages) == plain(their.current_live_storages)
    assert list(our.scheduled) == list(their.scheduled)
    assert our.nodes == their.nodes
    if order:
        assert outcome(lambda: our.schedule_node(order[0])) == outcome(lambda: their.schedule_node(order[0]))


def valid_orders(graph: fx.Graph, count: int, seed: int = 0) -> list[list[fx.Node]]:
    """The recorded order, and random ones that keep inputs before their users."""
    nodes = list(graph.nodes)
    orders = [nodes]
    chance = random.Random(seed)
    while len(orders) < count:
        missing = {node: len(node.all_input_nodes) for node in nodes}
        ready = [node for node in nodes if missing[node] == 0]
        order = []
        while ready:
            node = ready.pop(chance.randrange(len(ready)))
            order.append(node)
            for user in node.users:
                missing[user] -= 1
                if missing[user] == 0:
                    ready.append(user)
        orders.append(order)
    return orders
