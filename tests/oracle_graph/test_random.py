"""Random FX graphs under random orders: the same answers as PyTorch's estimator."""

import random

import torch.fx as fx
from comparing import expect_same_aliases, expect_same_profile, expect_same_schedule, valid_orders
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_graphs import graphs

often = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@often
@given(graph=graphs())
def test_profiles_and_aliases_are_equal(graph: fx.Graph) -> None:
    expect_same_profile(graph)
    expect_same_aliases(list(graph.nodes))


@often
@given(graph=graphs(), seed=st.integers(0, 99))
def test_levels_are_equal_under_five_orders(graph: fx.Graph, seed: int) -> None:
    for order in valid_orders(graph, 5, seed):
        expect_same_schedule(graph, order)


@often
@given(graph=graphs(), seed=st.integers(0, 99))
def test_any_order_whatever_is_answered_or_refused_alike(graph: fx.Graph, seed: int) -> None:
    order = list(graph.nodes)
    random.Random(seed).shuffle(order)
    expect_same_schedule(graph, order)
    expect_same_aliases(order)
