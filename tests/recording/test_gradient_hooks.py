"""Gradients are labelled as they are accumulated, by hooks that neither program nor FSDP2 sees."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

import tidemark
from tidemark.compat import MemTracker

TRACKERS = [tidemark.track, MemTracker]


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))


def has_visible_hooks(parameter: Any) -> bool:
    """What FSDP2 asks of a sharded parameter before it copies the gradient to the CPU."""
    return bool(getattr(parameter, "_post_accumulate_grad_hooks", None))


def gradient_bytes(tracker: Any) -> int:
    if isinstance(tracker, MemTracker):
        row: dict[Any, int] = tracker.get_tracker_snapshot().get(torch.device("cpu"), {})
        return {str(getattr(key, "value", key)): value for key, value in row.items()}["Gradient"]
    row = tracker.current["cpu"]
    return int(row["Gradient"] + row.get("ShardedGradient", 0))


def bytes_of_gradients(model: nn.Module) -> int:
    """Of the storages, each once: shards of one reduction are parts of one."""
    gradients = [getattr(p.grad, "_local_tensor", p.grad) for p in model.parameters()]
    return sum({g.untyped_storage().data_ptr(): g.untyped_storage().nbytes() for g in gradients}
               .values())


@pytest.fixture
def mesh() -> Iterator[Any]:
    """Four ranks on the CPU, of which this is the first and the others do not exist."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
    yield init_device_mesh("cpu", (4,))
    torch.distributed.destroy_process_group()


def offloaded_net(mesh: Any) -> nn.Module:
    from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard

    model = net()
    policy = CPUOffloadPolicy(pin_memory=False)
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh, offload_policy=policy)
    return fully_shard(model, mesh=mesh, offload_policy=policy)


@pytest.mark.parametrize("make", TRACKERS)
def test_no_parameter_has_a_hook_that_python_sees(make: Any) -> None:
    model = net()
    with make() as tracker:
        for _ in range(2):
            model(torch.ones(2, 6)).sum().backward()
            assert not any(has_visible_hooks(p) for p in model.parameters())
            # 6 x 8 + 8 weights and biases and 8 x 4 + 4, of four bytes.
            assert gradient_bytes(tracker) == (56 + 36) * 4
            model.zero_grad()


@pytest.mark.parametrize("make", TRACKERS)
def test_fsdp2_need_not_wait_for_gradients_that_go_to_the_cpu(
    mesh: Any, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch.distributed.fsdp._fully_shard import _fsdp_param_group as groups

    asked: list[bool] = []
    original = groups.foreach_reduce

    def spy(fsdp_params: Any, *arguments: Any, **options: Any) -> Any:
        asked.extend(has_visible_hooks(one.sharded_param) for one in fsdp_params)
        return original(fsdp_params, *arguments, **options)

    monkeypatch.setattr(groups, "foreach_reduce", spy)
    model = offloaded_net(mesh)
    with make() as tracker:
        for _ in range(2):
            model(torch.ones(2, 6)).sum().backward()
            assert gradient_bytes(tracker) == bytes_of_gradients(model) > 0
            model.zero_grad()
    assert asked == [False] * 8


def test_sharded_gradients_are_labelled_as_soon_as_they_are_there(
    mesh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch.distributed.fsdp._fully_shard import _fsdp_param_group as groups

    tracker = tidemark.track()
    seen: set[Any] = set()
    original = groups.foreach_reduce

    def spy(fsdp_params: Any, *arguments: Any, **options: Any) -> Any:
        result = original(fsdp_params, *arguments, **options)
        seen.update(category_of(tracker, one.sharded_param.grad._local_tensor)
                    for one in fsdp_params)
        return result

    monkeypatch.setattr(groups, "foreach_reduce", spy)
    model = offloaded_net(mesh)
    known = torch.ones(1)
    with tracker:
        tracker._follower.label(known, "ShardedGradient")
        for _ in range(2):  # the second time it is added to what is there
            model(torch.ones(2, 6)).sum().backward()
        assert seen == {category_of(tracker, known)}


def category_of(tracker: Any, tensor: torch.Tensor) -> Any:
    return tracker._tracker.category_of(tensor.untyped_storage()._cdata)


def test_fsdp2_is_as_it_was_afterwards(mesh: Any) -> None:
    from torch.distributed.fsdp._fully_shard._fsdp_param import FSDPParam

    before = vars(FSDPParam)["to_sharded_dtensor"]
    model = offloaded_net(mesh)
    with tidemark.track():
        model(torch.ones(2, 6)).sum().backward()
        assert vars(FSDPParam)["to_sharded_dtensor"] is not before
    assert vars(FSDPParam)["to_sharded_dtensor"] is before


@pytest.mark.parametrize("make", TRACKERS)
def test_a_hook_that_comes_later_runs_and_gradients_are_labelled_all_the_same(make: Any) -> None:
    layer, ran = nn.Linear(6, 8), []
    with make() as tracker:
        layer(torch.ones(2, 6)).sum().backward()
        layer.zero_grad()
        layer.weight.register_post_accumulate_grad_hook(lambda p: ran.append(p))
        for _ in range(2):
            layer(torch.ones(2, 6)).sum().backward()
            assert gradient_bytes(tracker) == 56 * 4
            layer.zero_grad()
    layer(torch.ones(2, 6)).sum().backward()
    assert len(ran) == 3 and all(one is layer.weight for one in ran)


def test_gradients_are_labelled_before_the_program_uses_them_up() -> None:
    """A program that makes its step in the backward drops each gradient in a hook of its own."""
    layer, seen = nn.Linear(6, 8, bias=False), []

    def use_up(parameter: torch.Tensor) -> None:
        seen.append(gradient_bytes(tracker))
        parameter.grad = None

    layer.weight.register_post_accumulate_grad_hook(use_up)
    with tidemark.track() as tracker:
        layer(torch.ones(2, 6)).sum().backward()
        assert gradient_bytes(tracker) == 0
    assert seen == [48 * 4]


def test_two_trackers_on_one_leaf_hear_as_long_as_each_runs() -> None:
    layer = nn.Linear(6, 8)
    with tidemark.track() as outer:
        with tidemark.track() as inner:
            layer(torch.ones(2, 6)).sum().backward()
            layer.zero_grad()
        before = gradient_bytes(inner)
        layer(torch.ones(2, 6)).sum().backward()
        assert gradient_bytes(outer) == 56 * 4
        assert gradient_bytes(inner) == before == 0


def test_hooks_keep_no_parameter_alive() -> None:
    layer = nn.Linear(6, 8)
    alive = weakref.ref(layer.weight)
    with tidemark.track():
        layer(torch.ones(2, 6)).sum().backward()
        del layer
        gc.collect()
        assert alive() is None


def test_an_interrupt_in_a_wrapped_gradient_reaches_the_program() -> None:
    """Only Python can take most wrappers apart, and Python may be interrupted there."""
    from torch.testing._internal.two_tensor import TwoTensor

    from tidemark.recording import library

    weight = nn.Parameter(TwoTensor(torch.ones(4, 4), torch.ones(4, 4)))
    layer = nn.Module()
    layer.weight = weight
    layer.forward = lambda: weight.sum()  # type: ignore[method-assign]

    def interrupt(value: Any) -> Any:
        raise KeyboardInterrupt

    with tidemark.track() as tracker:
        loss = layer()
        library._recorder.set_opener(interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                loss.backward()
        finally:
            library._recorder.set_opener(library.inner_tensors)
        assert tracker._tracker.is_running


def test_an_fsdp2_that_we_do_not_know_is_told_and_goes_on(
    mesh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidemark.sharding import sharded_memory

    monkeypatch.setattr(sharded_memory, "_methods", [])
    monkeypatch.setattr(sharded_memory, "check_private",
                        lambda part: ["FSDPParam.gone"] * (part == "sharded"))
    model = offloaded_net(mesh)
    with pytest.warns(RuntimeWarning, match="has no FSDPParam.gone") as told, tidemark.track():
        for _ in range(2):
            model(torch.ones(2, 6)).sum().backward()
    assert len(told) == 1
    assert all(p.grad is not None for p in model.parameters())
