"""The tensors of an optimizer's state, however it keeps them: never what it optimizes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from tidemark.optimizer_steps import state_tensors


def stepped(**options: Any) -> tuple[nn.Parameter, torch.optim.Optimizer]:
    parameter = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.Adam([parameter], **options)
    parameter.grad = torch.ones(3)
    optimizer.step()
    return parameter, optimizer


def names_of(tensors: list[torch.Tensor], known: dict[str, torch.Tensor]) -> list[str]:
    names = {id(tensor): name for name, tensor in known.items()}
    return sorted(names[id(tensor)] for tensor in tensors)


# What a state may hold besides a parameter's own: `one` and `two` are its tensors.
KEPT: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "plain": lambda one, two: {"one": one, "two": two, "step": 3, "name": "x", "none": None, "beta": 0.9},
    "nested": lambda one, two: {"one": one, "inner": {"two": two}},
    "a list": lambda one, two: {"both": [one, (two,)]},
    "an object": lambda one, two: {"one": one, "kept": SimpleNamespace(two=two)},
    "no dictionary": lambda one, two: SimpleNamespace(one=one, two=two),
}


@pytest.mark.parametrize("kind", KEPT)
def test_tensors_are_found_wherever_a_state_keeps_them(kind: str) -> None:
    parameter, optimizer = stepped()
    one, two = torch.zeros(2), torch.zeros(4)
    optimizer.state[parameter] = KEPT[kind](one, two)
    assert names_of(state_tensors(optimizer), {"one": one, "two": two}) == ["one", "two"]


@pytest.mark.parametrize("is_nested", [False, True])
def test_what_is_optimized_is_no_state(is_nested: bool) -> None:
    parameter, optimizer = stepped()
    own = torch.zeros(2)
    state = {"weight": parameter, "gradient": parameter.grad, "own": own}
    optimizer.state[parameter] = {"all": state} if is_nested else state
    assert names_of(state_tensors(optimizer), {"own": own}) == ["own"]


def test_a_rate_that_is_a_tensor_is_state_too() -> None:
    rate = torch.tensor(0.1)
    parameter, optimizer = stepped(lr=rate, capturable=False, foreach=False)
    state = optimizer.state[parameter]
    known = {**state, "lr": rate}
    assert names_of(state_tensors(optimizer), known) == ["exp_avg", "exp_avg_sq", "lr", "step"]


def test_states_of_another_kind_of_dictionary_are_read_as_it_tells_them() -> None:
    class Told(dict):  # type: ignore[type-arg]
        def values(self) -> Any:
            return [{"told": told}]

    parameter, optimizer = stepped()
    told = torch.zeros(2)
    optimizer.state = Told({parameter: {"hidden": torch.zeros(2)}})  # type: ignore[assignment]
    assert names_of(state_tensors(optimizer), {"told": told}) == ["told"]
