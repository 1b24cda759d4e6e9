"""Our own reading of FX graphs, without the defects of PyTorch's estimator."""

import warnings

import pytest
import torch
import torch.fx as fx
from models import capture
from torch._inductor.fx_passes import memory_estimator as theirs
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import tidemark
from tidemark import graphs


def add_constant(graph: fx.Graph, mode: FakeTensorMode) -> fx.Node:
    """One read of the same weight: tracing gives every read a fake tensor of its own."""
    node = graph.get_attr("weight")
    with mode:
        node.meta["val"] = torch.empty(16, device="meta")
    return node


def test_a_constant_counts_once_however_often_it_is_read() -> None:
    graph, mode = fx.Graph(), FakeTensorMode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = add_constant(graph, mode), add_constant(graph, mode)
    view = graph.call_function(torch.ops.aten.view.default, (first, [16]))
    with mode:
        view.meta["val"] = torch.empty(16, device="meta")
    graph.output((view, second))
    assert max(theirs.build_memory_profile(graph, theirs._is_releasable)) == 192
    assert graphs.read_fx(graph).accounts().profile().tolist() == [64, 64, 64]


def test_a_valid_order_is_never_refused() -> None:
    """Two views of a constant share a storage, but no edge: either may come first."""
    graph, mode = fx.Graph(), FakeTensorMode()
    x = graph.placeholder("x")
    with mode:
        x.meta["val"], shared = torch.empty(4, device="meta"), torch.empty(8, device="meta")
        views = [graph.call_function(torch.ops.aten.mul.Tensor, (x, 2)) for _ in range(2)]
        for view in views:
            view.meta["val"] = shared.view(-1)
        used = graph.call_function(torch.ops.aten.neg.default, (views[1],))
        used.meta["val"] = torch.empty(2, device="meta")
    graph.output((used, views[0]))
    their = theirs.MemoryTracker(graph)
    their.schedule_node(views[1])
    with pytest.raises(AssertionError):
        their.schedule_node(used)
    schedule = graphs.read_fx(graph).accounts().schedule()
    assert [schedule.schedule(n) for n in (2, 3, 1)] == [(48, 48), (56, 56), (56, 56)]


def test_a_sparse_value_is_sized_by_its_parts() -> None:
    graph = fx.Graph()
    with FakeTensorMode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = graph.placeholder("x")
        indices, values = torch.empty(2, 5, dtype=torch.int64), torch.empty(5)
        node.meta["val"] = torch.sparse_coo_tensor(indices, values, (9, 9))
    graph.output((node,))
    with pytest.raises(NotImplementedError):
        theirs.build_memory_profile(graph, theirs._is_releasable)
    assert graphs.read_fx(graph).accounts().profile().tolist() == [2 * 5 * 8 + 5 * 4]


def test_views_of_a_real_mode_trace_alias() -> None:
    module = make_fx(lambda x: x.view(16).unsqueeze(0).neg())(torch.ones(4, 4))
    expected = [64, 64, 64, 64, 64, 128, 128]
    assert graphs.read_fx(module).accounts().profile().tolist() == expected


def test_one_graph_answers_for_any_size() -> None:
    forward = capture("mlp", dynamic=True)["forward"]
    graph = graphs.read_fx(forward)
    (name,) = graph.dimensions
    assert graph.dimensions[name] == 5
    profiles = [graph.accounts(dimensions={name: batch}).profile() for batch in (5, 6, 7)]
    assert (profiles[2] - profiles[1] == profiles[1] - profiles[0]).all()  # linear in the batch
    assert (profiles[0] == graph.accounts().profile()).all()
    assert profiles[2].max() > profiles[0].max()


def test_collectives_elementwise_nodes_and_rounding_are_known() -> None:
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group(backend="fake", rank=0, world_size=2, store=FakeStore())
    try:
        group = dist.group.WORLD.group_name

        def step(x: torch.Tensor) -> torch.Tensor:
            doubled = x * 2
            started = torch.ops._c10d_functional.all_reduce(doubled, "sum", group)
            other = x + 1
            return torch.ops._c10d_functional.wait_tensor(started) + other

        with FakeTensorMode():
            module = make_fx(step)(torch.empty(100, device="meta"))
    finally:
        dist.destroy_process_group()
    graph = graphs.read_fx(module)
    # x; doubled; started, doubled dies; other; wait; the sum, others die.
    assert graph.accounts().profile().tolist() == [
        400, 800, 800, 1200, 800, 1200, 1200, 1200, 1200, 1600, 800,
    ]  # fmt: skip
    held = graph.accounts(hold_collective_inputs=True).profile().tolist()
    assert held == [400, 800, 800, 1200, 1200, 1600, 1600, 1600, 1200, 1600, 800]
    reused = graph.accounts(reuse_inputs=True).profile().tolist()
    assert reused == [400, 800, 800, 1200, 800, 1200, 1200, 1200, 1200, 1200, 800]
    assert graph.accounts(granularity=512).profile()[0] == 512


def test_opening_a_graph_module_gives_a_tape_with_modules_and_categories() -> None:
    graphs_of = capture("language")
    tape = tidemark.open(graphs_of["forward"])
    peak = tape.peak().devices[0]
    accounts = graphs.read_fx(graphs_of["forward"]).accounts()
    assert peak.requested_bytes == accounts.peak().bytes == accounts.profile().max()
    assert {"Input", "Activation"} == {category.name for category in peak.categories}
    assert any(scope.path == "blocks.0.attention" for scope in tape.scopes().scopes)
    backward = tidemark.open(graphs_of["backward"])
    assert backward.peak().devices[0].at.phase == tidemark.Phase.Backward
    assert not list(tidemark.verify(tape)) and not list(tidemark.verify(backward))


def test_inputs_that_get_gradients_are_parameters() -> None:
    graphs_of = capture("mlp")
    forward, backward = graphs_of["forward"], graphs_of["backward"]
    tape = graphs.read_fx(forward, backward=backward).accounts().tape()
    bytes_of = {category.name: size for category, size in tape.peak().devices[0].categories.items()}
    weights = (8 * 16 + 16) + (16 * 16 + 16) + (16 * 4 + 4)
    assert bytes_of["Parameter"] == 4 * weights
    assert bytes_of["Input"] == 4 * 5 * 8
    tape = tidemark.open(backward)
    at_the_end = tape.timeline().devices[0].points[-1].categories
    assert {category.name: size for category, size in at_the_end.items()}["Gradient"] >= 4 * weights


def test_what_is_neither_a_path_nor_a_graph_is_refused() -> None:
    with pytest.raises(TypeError, match="int"):
        tidemark.open(3)


def test_orders_are_checked_and_moves_keep_the_peak() -> None:
    graph = graphs.read_fx(capture("experts")["backward"])
    accounts = graph.accounts()
    nodes = graph.compute_nodes().tolist()
    with pytest.raises(tidemark.Error):
        accounts.profile(nodes[::-1])
    order = accounts.order()
    for node, place in zip(nodes, nodes[5:]):
        if order.can_move_after(node, place):
            order.move_after(node, place)
            assert order.peak == accounts.profile(order.nodes).max()
    assert order.nodes.tolist() != nodes
    assert accounts.peak(order.nodes).bytes == order.peak
