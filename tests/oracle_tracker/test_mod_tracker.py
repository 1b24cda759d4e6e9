"""ModTracker: the same hooks in the same order as PyTorch's, and its defects mended."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed._tools.mod_tracker import ModTracker as TorchModTracker
from torch.utils.checkpoint import checkpoint

from tidemark.compat.mod_tracker import ModTracker


class Foo(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.parts = nn.ModuleDict({"x": nn.Linear(4, 4), "y": nn.ReLU()})

    def forward(self, batch: Any) -> Any:
        if isinstance(batch, dict):
            return {"out": self.parts["y"](self.parts["x"](self.a(batch["in"])))}
        return self.a(batch)


class Bar(nn.Module):
    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.how = how
        self.foo = Foo()
        self.tail = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.how == "checkpoint":
            x = checkpoint(self.foo, x, use_reentrant=False)
        elif self.how == "reentrant":
            x = checkpoint(self.foo, x, use_reentrant=True)
        elif self.how == "dict":
            x = self.foo({"in": x})["out"]
        else:
            x = self.foo(x)
        return self.tail(x)


def log_of(make: Any, how: str, differentiable: bool) -> list[tuple[Any, ...]]:
    torch.manual_seed(0)
    model, x = Bar(how), torch.randn(2, 4, requires_grad=differentiable)
    log: list[tuple[Any, ...]] = []

    def note(what: str) -> Any:
        def hook(module: Any, *arguments: Any) -> None:
            shapes = [tuple(t.shape) for t in torch.utils._pytree.tree_leaves(arguments)
                      if isinstance(t, torch.Tensor)]
            log.append((what, tracker.get_known_fqn(module), tracker.is_bw,
                        frozenset(tracker.parents), tuple(shapes)))

        return hook

    tracker = make()
    tracker.register_user_hooks(*(note(w) for w in ("pre_fw", "post_fw", "pre_bw", "post_bw")))
    with tracker:
        for _ in range(2 if not differentiable else 1):
            model(x).sum().backward()
            assert not tracker.is_bw
            assert tracker.parents == {"Global"}
    return log


@pytest.mark.parametrize("differentiable", [False, True])
@pytest.mark.parametrize("how", ["", "dict", "checkpoint", "reentrant"])
def test_hooks_come_in_the_same_order_with_the_same_parents(how: str, differentiable: bool) -> None:
    assert log_of(ModTracker, how, differentiable) == log_of(TorchModTracker, how, differentiable)


def test_hooks_are_registered_once() -> None:
    tracker = ModTracker()
    tracker.register_user_hooks(pre_fw_hook=print)
    with pytest.raises(AssertionError, match="pre_fw_hook"):
        tracker.register_user_hooks(pre_fw_hook=print)
    tracker.register_user_hooks(post_fw_hook=print)
    tracker.register_user_hooks(pre_fw_hook=print)
    tracker.clear_user_hooks()
    tracker.register_user_hooks(print, print, print, print)


def test_a_module_that_died_before_the_backward_is_none() -> None:
    seen: list[Any] = []
    tracker = ModTracker()
    tracker.register_user_hooks(pre_bw_hook=lambda m, g: seen.append(m))
    with tracker:
        model = nn.Linear(4, 4)
        loss = model(torch.ones(1, 4)).sum()
        del model
        gc.collect()
        loss.backward()
    assert seen == [None]


def test_d17_shared_modules_and_their_children_have_one_name() -> None:
    shared = nn.Sequential(nn.Linear(2, 2))
    model = nn.Sequential(nn.Sequential(shared), nn.Sequential(shared))
    with ModTracker() as tracker:
        model(torch.ones(1, 2))
    name = tracker.get_known_fqn(shared)
    assert name == "Sequential.1.0"
    assert tracker.get_known_fqn(shared[0]) == f"{name}.0"


def test_d17_roots_of_one_class_are_told_apart() -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    with ModTracker() as tracker:
        second(first(torch.ones(1, 2)))
    assert (tracker.get_known_fqn(first), tracker.get_known_fqn(second)) == ("Linear", "Linear#2")


def test_d17_the_formatter_of_warnings_stays() -> None:
    before = warnings.formatwarning

    class Calls(nn.Module):
        def forward(self, x: torch.Tensor, again: bool = True) -> torch.Tensor:
            return self(x, False) if again else x

    with ModTracker():
        Calls()(torch.ones(1))
    assert warnings.formatwarning is before


def test_after_an_exception_in_backward_the_next_is_right() -> None:
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            raise ValueError("in backward")

    log: list[str] = []
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tracker = ModTracker()
    tracker.register_user_hooks(post_bw_hook=lambda m, g: log.append(tracker.get_known_fqn(m) or ""))
    with tracker:
        with pytest.raises(ValueError, match="in backward"):
            model(Fails.apply(torch.ones(1, 2, requires_grad=True))).sum().backward()
        assert tracker.parents == {"Global"}
        log.clear()
        model(torch.ones(1, 2)).sum().backward()
    assert sorted(log) == ["Sequential", "Sequential.0", "Sequential.1"]


def test_d26_the_graph_is_not_kept() -> None:
    gc.disable()
    try:
        tracker = ModTracker()
        tracker.register_user_hooks(pre_bw_hook=lambda m, g: None)
        with tracker:
            layer, alive = nn.Linear(2, 2), []
            layer.register_forward_hook(lambda m, i, o: alive.append(weakref.ref(o)))
            out = nn.Sequential(layer, nn.Sigmoid())(torch.ones(1, 2, requires_grad=True))
            del out
            assert [one() for one in alive] == [None]
    finally:
        gc.enable()


def test_the_question_about_none_is_refused_as_before() -> None:
    for make in (ModTracker, TorchModTracker):
        with pytest.raises(TypeError):
            make().get_known_fqn(None)
