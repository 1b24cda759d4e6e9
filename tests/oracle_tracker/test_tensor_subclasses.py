"""Tensors that wrap others: DTensor and wrapper subclasses count by the storages inside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from caller_programs import sharded_net
from comparing import run_both_fake, run_under
from programs import Program, training
from test_same_answers import assert_same
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode

import tidemark
from tidemark.compat.mem_tracker import MemTracker
from tidemark.tensor_parts import parts_of

WORLD_SIZE = 4


@pytest.fixture(scope="module")
def mesh() -> Iterator[Any]:
    """Four ranks on the CPU, of which this is the first and the others do not exist."""
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=WORLD_SIZE)
    yield init_device_mesh("cpu", (WORLD_SIZE,))
    torch.distributed.destroy_process_group()


class LetDTensorsThrough(TorchDispatchMode):
    """Changes nothing, and sees a DTensor's operators as PyTorch's tracker does: the local ones."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if DTensor in types:
            return NotImplemented
        return func(*args, **(kwargs or {}))


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))


def tensor_parallel(mesh: Any) -> tuple[nn.Module, torch.Tensor]:
    """Plain tensors in and out, DTensors between."""
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    return parallelize_module(network(), mesh, plan), torch.randn(4, 16)


def all_sharded(mesh: Any) -> tuple[nn.Module, torch.Tensor]:
    """Every tensor a DTensor."""

    def shard(name: str, module: nn.Module, mesh: Any) -> None:
        for own, parameter in list(module.named_parameters(recurse=False)):
            sharded = distribute_tensor(parameter, mesh, [Shard(0)])
            module.register_parameter(own, nn.Parameter(sharded))

    model = distribute_module(network(), mesh, shard)
    return model, distribute_tensor(torch.randn(4, 16), mesh, [Replicate()])


def two(tensor: torch.Tensor) -> torch.Tensor:
    return TwoTensor(tensor, tensor.clone())


def nested(tensor: torch.Tensor) -> torch.Tensor:
    return TwoTensor(two(tensor), two(tensor.clone()))


def wrapped(wrap: Callable[[torch.Tensor], torch.Tensor]) -> tuple[nn.Module, torch.Tensor]:
    model = network()
    for module in model:
        for name, parameter in list(module.named_parameters(recurse=False)):
            module.register_parameter(name, nn.Parameter(wrap(parameter.detach())))
    return model, wrap(torch.randn(4, 16))


WRAPPERS: dict[str, Callable[[Any], tuple[nn.Module, torch.Tensor]]] = {
    "tensor parallel": tensor_parallel,
    "all sharded": all_sharded,
    "two": lambda mesh: wrapped(two),
    "nested": lambda mesh: wrapped(nested),
}


def plain_loss(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    loss = model(x).pow(2).sum()
    return loss.full_tensor() if isinstance(loss, DTensor) else loss


def program_on(kind: str, mesh: Any) -> Callable[[], Program]:
    def build() -> Program:
        model, x = WRAPPERS[kind](mesh)
        optimizer = torch.optim.SGD(model.parameters(), momentum=0.9, foreach=False)
        return training(model, x, optimizer, iterations=2, call=plain_loss)

    return build


@pytest.mark.parametrize("kind", WRAPPERS)
def test_both_trackers_agree(kind: str, mesh: Any) -> None:
    build = program_on(kind, mesh)
    theirs = run_under(TorchMemTracker, build)
    ours = run_under(MemTracker, build, LetDTensorsThrough())
    assert_same(kind, theirs, ours)


@pytest.mark.parametrize("checkpointed", [False, True])
@pytest.mark.parametrize("reshard", [False, True])
def test_both_trackers_agree_on_a_model_that_fsdp_shards(
    reshard: bool, checkpointed: bool, mesh: Any
) -> None:
    """It exchanges the parameters of a module before the modules below it are called."""

    def build() -> Program:
        model = sharded_net(mesh, reshard=reshard, checkpointed=checkpointed)
        optimizer = torch.optim.Adam(model.parameters(), foreach=False)
        return training(model, torch.randn(6, 7), optimizer, iterations=2)

    theirs = run_under(TorchMemTracker, build)
    ours = run_under(MemTracker, build, LetDTensorsThrough())
    for outcome in (theirs, ours):  # parameter_mem is of the first call, and of now: sharded again
        outcome.bytes = {name: sizes[1:] for name, sizes in outcome.bytes.items()}
    assert_same("fsdp", theirs, ours)


@pytest.mark.parametrize("kind", WRAPPERS)
def test_both_trackers_agree_on_fake_tensors(kind: str, mesh: Any) -> None:
    """In what lasts. In peaks, what lives only inside a wrapper's operator counts for PyTorch's."""
    theirs, ours = run_both_fake(program_on(kind, mesh))
    assert ours.moments == theirs.moments
    assert ours.current == theirs.current
    assert ours.modules.keys() == theirs.modules.keys()
    for module, states in theirs.modules.items():
        lasting = {name: calls for name, calls in states.items() if "Peak" not in name}
        assert lasting == {name: ours.modules[module].get(name) for name in lasting}
    assert ours.bytes == theirs.bytes


def bytes_in(*tensors: torch.Tensor) -> int:
    """Every storage once, however many tensors stand on it."""
    storages = {p.untyped_storage()._cdata: p.untyped_storage().nbytes()
                for tensor in tensors for p in parts_of(tensor)}
    return sum(storages.values())


def state_of(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [value for state in optimizer.state.values() for value in state.values()
            if isinstance(value, torch.Tensor)]


@pytest.mark.parametrize("kind", WRAPPERS)
@pytest.mark.parametrize("whose", ["track", "MemTracker"])
def test_categories_are_the_true_sums_of_the_inner_storages(kind: str, whose: str, mesh: Any) -> None:
    model, x = WRAPPERS[kind](mesh)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    tracker: Any = MemTracker() if whose == "MemTracker" else tidemark.track()
    (tracker.track_external if whose == "MemTracker" else tracker.add)(model, optimizer, x)

    def check() -> None:
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        now = tracker.get_tracker_snapshot() if whose == "MemTracker" else tracker.current
        (row,) = now.values()
        expected = (bytes_in(*model.parameters()), bytes_in(*gradients), bytes_in(*state_of(optimizer)))
        state = row["Optstate" if whose == "MemTracker" else "OptimizerState"]
        assert (row["Parameter"], row["Gradient"], state) == expected
        assert row["Other"] == bytes_in(x)

    with tracker:
        for _ in range(2):
            check()
            plain_loss(model, x).backward()
            check()
            optimizer.step()
            check()
            optimizer.zero_grad()
            check()


@pytest.mark.parametrize("kind", WRAPPERS)
def test_a_tape_has_the_backward_of_modules_whose_tensors_are_wrapped(kind: str, mesh: Any) -> None:
    model, x = WRAPPERS[kind](mesh)
    with tidemark.track(model, x) as tracking:
        plain_loss(model, x).backward()
    modules = {path for path, _ in model.named_modules()}
    scopes = tracking.tape.scopes(depth=0).scopes
    backward = {one.path for one in scopes if any(calls.phase == tidemark.Phase.Backward for calls in one.phases)}
    assert backward == {f"Sequential.{path}".rstrip(".") for path in modules}
    assert not list(tracking.tape.diagnostics)


def test_parts_of_tensors_are_found_however_deep() -> None:
    plain = torch.ones(2, 2)
    assert parts_of(plain) == [plain]
    deep = nested(plain)
    assert [part.shape for part in parts_of(deep)] == [plain.shape] * 4
    for layout in (torch.sparse_csr, torch.sparse_csc):
        assert len(parts_of(plain.to_sparse(layout=layout))) == 3
    assert len(parts_of(plain.to_sparse())) == 2
    assert len(parts_of(TwoTensor(plain.to_sparse(), plain.to_sparse()))) == 4
    assert parts_of(torch.nn.LazyLinear(2).weight) == []
