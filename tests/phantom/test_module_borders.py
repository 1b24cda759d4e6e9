"""Following modules and gradients leaves the program as it is, whatever it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tidemark
from tidemark import Category, Phase
from tidemark.estimation.modules import ModuleCalls
from tidemark.estimation.steps import OptimizerSteps

WIDTH = 256
WEIGHT = 4 * WIDTH * WIDTH


@pytest.fixture
def watched(open_session: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Follows what the test does; called, it ends that and gives the tape."""
    library = open_session(save=str(tmp_path / "run.tape"))
    modules = ModuleCalls()
    steps = OptimizerSteps(0, 0, lambda step: None, modules.label_copies)
    modules.watch()
    steps.watch()

    def stop() -> Any:
        modules.stop()
        steps.stop()
        library.finish()
        return tidemark.open(tmp_path / "run.tape")

    yield stop
    modules.stop()
    steps.stop()


def alive(tape: Any, category: Category) -> int:
    return tape.peak().devices[0].categories.get(category, 0)


def test_the_method_that_calls_modules_is_itself_again(watched: Callable[[], Any]) -> None:
    assert not hasattr(nn.Module._call_impl, "__code__")
    watched()
    assert nn.Module._call_impl.__code__.co_filename.endswith("module.py")


def test_positional_and_keyword_arguments_arrive(watched: Callable[[], Any]) -> None:
    class Sum(nn.Module):
        def forward(self, a: Any, /, b: Any, *rest: Any, c: Any = 0, **more: Any) -> Any:
            return a + b + sum(rest) + c + sum(more.values())

    assert Sum()(1, b=2) == 3
    assert Sum()(1, 2, 3, c=4, d=5) == 15
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Sum()(1)


def test_hooks_of_the_user_run_in_their_order(watched: Callable[[], Any]) -> None:
    order = []
    net = nn.Identity()
    net.register_forward_pre_hook(lambda *_: order.append("before"))
    net.register_forward_hook(lambda *_: order.append("after"))
    net(1)
    assert order == ["before", "after"]


def test_a_module_that_raises_ends_all_the_same(watched: Callable[[], Any]) -> None:
    class Broken(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise KeyboardInterrupt

    net = nn.Sequential(nn.Linear(WIDTH, WIDTH), Broken()).cuda()
    with pytest.raises(KeyboardInterrupt):
        net(torch.empty(8, WIDTH, device="cuda"))
    torch.empty(2**30, device="cuda")
    tape = watched()
    assert not list(tidemark.verify(tape))
    assert tape.peak().devices[0].at.scope == ""


def test_inputs_given_by_keyword_are_inputs(watched: Callable[[], Any]) -> None:
    class Loss(nn.Module):
        def forward(self, *, batch: torch.Tensor) -> torch.Tensor:
            return batch.sum()

    batch = torch.empty(2**20, device="cuda")  # before any step: nobody knows what it is
    Loss()(batch=batch)
    assert alive(watched(), Category.Input) == 2**22


def test_a_leaf_outside_of_modules_gets_a_gradient(watched: Callable[[], Any]) -> None:
    weight = torch.empty(WIDTH, WIDTH, device="cuda", requires_grad=True)
    for _ in range(2):  # made, then added to
        (weight * 2).sum().backward()
    torch.empty(2**30, device="cuda")
    assert alive(watched(), Category.Gradient) == WEIGHT


def test_what_a_hook_makes_inside_of_the_accumulation_is_no_gradient(
    watched: Callable[[], Any],
) -> None:
    weight = nn.Parameter(torch.empty(WIDTH, WIDTH, device="cuda"))
    kept: list[torch.Tensor] = []
    weight.register_post_accumulate_grad_hook(lambda p: kept.append(p.grad * 2))
    (weight * 2).sum().backward()
    torch.empty(2**30, device="cuda")
    assert alive(watched(), Category.Gradient) == WEIGHT
    assert len(kept) == 1


def test_an_optimizer_that_steps_in_the_backward(watched: Callable[[], Any]) -> None:
    """Its moments are state, its scratch is temporary, and gradients die one by one."""
    net = nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))).cuda()
    optimizers = {p: torch.optim.Adam([p], foreach=False) for p in net.parameters()}

    def step(parameter: torch.Tensor) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    net(torch.empty(8, WIDTH, device="cuda")).sum().backward()
    torch.empty(2**30, device="cuda")
    tape = watched()
    assert alive(tape, Category.OptimizerState) == 8 * WEIGHT
    assert alive(tape, Category.Gradient) == 0
    backward = next(p for s in tape.scopes().scopes for p in s.phases if p.phase == Phase.Backward)
    assert backward.devices[0].peak_categories.get(Category.Gradient, 0) <= 2 * WEIGHT


def test_sparse_gradients_are_gradients(watched: Callable[[], Any]) -> None:
    table = nn.Embedding(1000, WIDTH, sparse=True).cuda()
    table(torch.arange(64, device="cuda")).sum().backward()
    torch.empty(2**30, device="cuda")
    assert table.weight.grad is not None
    values = table.weight.grad._values().untyped_storage().nbytes()
    assert values == 4 * 64 * WIDTH
    assert alive(watched(), Category.Gradient) >= values
