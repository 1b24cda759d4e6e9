"""Training programs on models that FSDP2 shards over four ranks, as PROGRAMS, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed._composable import checkpoint as checkpoint_composable
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Shard
from torch.utils.checkpoint import checkpoint

WIDTH = 64


@dataclass
class Program:
    """What the tracker is given, and what runs inside of it."""

    model: Any
    optimizer: torch.optim.Optimizer | None
    inputs: tuple[Any, ...]
    run: Callable[[Any], None]
    moments: dict[str, Any] = field(default_factory=dict)


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(build: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[build.__name__] = build
    return build


def training(model: Any, batch: torch.Tensor, optimizer: torch.optim.Optimizer | None = None, *,
             iterations: int = 2, backwards: int = 1, is_given: bool = True,
             call: Callable[[torch.Tensor], torch.Tensor] | None = None,
             before_backward: Callable[[int], None] = lambda backward: None) -> Program:
    """Forward, backward and step, with a snapshot after each; a new record every iteration."""

    def run(tracker: Any) -> None:
        for iteration in range(iterations):
            for backward in range(backwards):
                before_backward(backward)
                loss = (call or model)(batch).sum()
                note(f"{iteration}.{backward} forward")
                loss.backward()
                note(f"{iteration}.{backward} backward")
                del loss
                if backward + 1 < backwards:
                    tracker.reset_mod_stats()
            if optimizer is not None:
                optimizer.step()
                note(f"{iteration} step")
                optimizer.zero_grad()
            note(f"{iteration} end")
            if iteration + 1 < iterations:
                tracker.reset_mod_stats()

    def note(moment: str) -> None:
        made.moments[moment] = holder[0].get_tracker_snapshot()

    holder: list[Any] = []

    def run_noted(tracker: Any) -> None:
        holder.append(tracker)
        run(tracker)

    made = Program(model, optimizer if is_given else None, (batch,), run_noted)
    return made


class Block(nn.Module):
    def __init__(self, width: int = WIDTH, bias: bool = False) -> None:
        super().__init__()
        self.wide = nn.Linear(width, 4 * width, bias=bias)
        self.narrow = nn.Linear(4 * width, width, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.narrow(torch.relu(self.wide(x)))


def chain(width: int = WIDTH, depth: int = 2) -> nn.Sequential:
    return nn.Sequential(*(
        nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.ReLU(),
                      nn.Linear(4 * width, width, bias=False)) for _ in range(depth)))


def line() -> Any:
    return init_device_mesh("cpu", (4,))


def shard(model: nn.Module, *, units: Any = None, mesh: Any = None, **how: Any) -> Any:
    mesh = line() if mesh is None else mesh
    for unit in model.children() if units is None else units:
        fully_shard(unit, mesh=mesh, **how)
    return fully_shard(model, mesh=mesh, **how)


def batch(width: int = WIDTH, rows: int = 32) -> torch.Tensor:
    return torch.randn(rows, width)


def adam(model: Any, foreach: bool = False) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), foreach=foreach)


@program
def two_blocks() -> Program:
    model = shard(chain())
    return training(model, batch(), adam(model))


@program
def kept_after_the_forward() -> Program:
    model = shard(chain(), reshard_after_forward=False)
    return training(model, batch(), adam(model))


@program
def resharded_over_two_ranks() -> Program:
    model = shard(chain(), reshard_after_forward=2)
    return training(model, batch(), adam(model))


@program
def mixed_precision() -> Program:
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = shard(chain(), mp_policy=policy)
    return training(model, batch(), adam(model))


@program
def outputs_in_another_precision() -> Program:
    policy = MixedPrecisionPolicy(param_dtype=torch.float16, output_dtype=torch.float32)
    model = shard(chain(), mp_policy=policy)
    return training(model, batch(), adam(model))


@program
def offloaded() -> Program:
    model = shard(chain(), offload_policy=CPUOffloadPolicy(pin_memory=False))
    return training(model, batch(), adam(model))


@program
def checkpoints_by_wrapper() -> Program:
    model = nn.Sequential(*(checkpoint_wrapper(Block()) for _ in range(3)))
    shard(model)
    return training(model, batch(), adam(model))


@program
def checkpoints_that_are_composable() -> Program:
    model = nn.Sequential(*(Block() for _ in range(3)))
    for block in model:
        checkpoint_composable(block)
    shard(model)
    return training(model, batch(), adam(model))


class Checkpointed(nn.Module):
    """Shards inside of checkpoints."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


@program
def shards_inside_of_checkpoints() -> Program:
    model = Checkpointed()
    shard(model, units=model.blocks)
    return training(model, batch(), adam(model))


@program
def checkpoints_inside_of_shards() -> Program:
    class Inside(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()
            self.head = nn.Linear(WIDTH, WIDTH)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(checkpoint(self.block, x, use_reentrant=False))

    model = shard(nn.Sequential(Inside(), Inside()))
    return training(model, batch(), adam(model))


@program
def only_a_part_runs() -> Program:
    model = shard(chain(depth=3))
    return training(model, batch(), call=model[0])


@program
def frozen_layers() -> Program:
    model = nn.Sequential(Block(), Block(), Block())
    model[0].requires_grad_(False)
    model[1].narrow.requires_grad_(False)
    shard(model)
    return training(model, batch(), torch.optim.SGD(
        [p for p in model.parameters() if p.requires_grad], lr=0.1, momentum=0.9))


@program
def tied_weights() -> Program:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.outer = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
            self.outer.weight = self.inner.weight
            self.block = Block()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.outer(self.block(self.inner(x)))

    model = Tied()
    shard(model, units=[model.block])
    return training(model, batch(), adam(model))


@program
def replicas_of_shards() -> Program:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    model = shard(chain(), mesh=mesh)
    return training(model, batch(), adam(model))


@program
def replicas_of_shards_in_mixed_precision() -> Program:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
    model = shard(chain(), mesh=mesh, mp_policy=policy)
    return training(model, batch(), adam(model))


@program
def gradients_of_two_batches() -> Program:
    model = shard(chain())
    return training(model, batch(), adam(model), backwards=2)


@program
def gradients_that_are_not_exchanged_at_once() -> Program:
    model = shard(chain())
    return training(
        model, batch(), adam(model), backwards=3,
        before_backward=lambda backward: model.set_requires_gradient_sync(backward == 2))


@program
def such_gradients_in_mixed_precision() -> Program:
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = shard(chain(), mp_policy=policy)
    return training(
        model, batch(), adam(model), backwards=2,
        before_backward=lambda backward: model.set_requires_gradient_sync(backward == 1))


@program
def optimizer_that_was_not_given() -> Program:
    model = shard(chain())
    return training(model, batch(), torch.optim.SGD(model.parameters(), lr=0.1), is_given=False)


@program
def optimizer_on_lists() -> Program:
    model = shard(chain())
    return training(model, batch(), adam(model, foreach=True))


@program
def no_optimizer() -> Program:
    return training(shard(chain()), batch(), iterations=3)


@program
def shards_of_uneven_sizes() -> Program:
    model = nn.Sequential(Block(18, bias=True), Block(18, bias=True), nn.LayerNorm(18))
    shard(model)
    return training(model, batch(18), adam(model))


@program
def buffers() -> Program:
    model = shard(nn.Sequential(Block(), nn.BatchNorm1d(WIDTH), Block()))
    return training(model, batch(), adam(model))


@program
def made_on_meta() -> Program:
    with torch.device("meta"):
        model = nn.Sequential(Block(18), Block(18))
    shard(model)
    model.to_empty(device="cpu")
    for parameter in model.parameters():
        nn.init.ones_(parameter.to_local())
    return training(model, batch(18), adam(model))


@program
def forwards_prefetched() -> Program:
    model = shard(chain(depth=3))
    model[0].set_modules_to_forward_prefetch([model[1]])
    model[1].set_modules_to_forward_prefetch([model[2]])
    return training(model, batch(), adam(model))


@program
def backwards_prefetched() -> Program:
    model = shard(chain(depth=3))
    model[2].set_modules_to_backward_prefetch([model[1], model[0]])
    return training(model, batch(), adam(model))


@program
def unsharded_by_hand() -> Program:
    model = shard(chain())

    def call(x: torch.Tensor) -> torch.Tensor:
        model[1].unshard()
        return model(x)

    return training(model, batch(), adam(model), call=call)


@program
def not_resharded_after_the_backward() -> Program:
    model = shard(chain())
    model.set_reshard_after_backward(False)
    return training(model, batch(), adam(model))


@program
def a_module_called_twice() -> Program:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.block(self.block(x))

    return training(shard(Twice()), batch())


@program
def sharded_along_the_second_dimension() -> Program:
    model = shard(chain(), shard_placement_fn=lambda parameter: Shard(1))
    return training(model, batch(), adam(model))


@program
def inputs_that_need_gradients() -> Program:
    model = shard(chain())
    x = batch().requires_grad_()
    return training(model, x, adam(model))


@program
def without_gradients() -> Program:
    model = shard(chain())

    def run(tracker: Any) -> None:
        with torch.no_grad():
            made.moments["end"] = (model(made.inputs[0]), tracker.get_tracker_snapshot())[1]

    made = Program(model, None, (batch(),), run)
    return made


def transformer(wrap: Any, reshard: bool) -> Program:
    """As PyTorch tests its own tracker, but for its sizes."""
    pytest.importorskip("expecttest", reason="PyTorch's own test models need it")
    from torch.testing._internal.distributed._tensor.common_dtensor import (
        ModelArgs,
        Transformer,
        TransformerBlock,
    )

    model: Any = Transformer(ModelArgs(n_layers=4, n_heads=4, vocab_size=256, max_seq_len=32,
                                       dropout_p=0.1, dim=32))
    for name, layer in list(model.named_modules()):
        if isinstance(layer, TransformerBlock):
            parent, _, leaf = name.rpartition(".")
            made = wrap(layer)
            if made is not layer:
                setattr(model.get_submodule(parent), leaf, made)
    shard(model, units=list(model.layers), reshard_after_forward=reshard)
    return training(model, torch.randint(0, 256, (4, 32)), adam(model))


@program
def transformer_with_wrapped_checkpoints() -> Program:
    return transformer(checkpoint_wrapper, True)


@program
def transformer_with_composable_checkpoints() -> Program:
    def make(layer: nn.Module) -> nn.Module:
        checkpoint_composable(layer)
        return layer

    return transformer(make, False)


class Mlp(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.buffer: torch.Tensor
        self.register_buffer("buffer", torch.randn(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.out(torch.relu(self.into(x)))) + self.buffer


def several_mlps(reshard: bool, offload: bool, mixed: bool) -> Program:
    """As PyTorch tests its own tracker, but for its sizes."""
    how: dict[str, Any] = {"reshard_after_forward": reshard}
    if offload:
        how["offload_policy"] = CPUOffloadPolicy(pin_memory=False)
    if mixed:
        how["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.float16,
                                                reduce_dtype=torch.float32)
    model = shard(nn.Sequential(*(Mlp(48) for _ in range(4))), **how)
    return training(model, batch(48, 64), adam(model))


for _reshard in (True, False):
    for _offload in (True, False):
        for _mixed in (True, False):
            _name = "mlps" + "_resharded" * _reshard + "_offloaded" * _offload + "_mixed" * _mixed
            PROGRAMS[_name] = (lambda how: lambda: several_mlps(*how))((_reshard, _offload, _mixed))
