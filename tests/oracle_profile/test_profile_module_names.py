"""Modules have the same names in a profile as in a live track of the same program."""

import gc

import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

import tidemark


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.Linear(16, 16)
        self.forward_net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.forward_net(self.attention(x))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(), checkpoint_wrapper(Block()), Block()])
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def calls(tape: tidemark.Tape) -> dict[str, int]:
    """Calls by path; a tracker's passes of the backward are none."""
    counts = {
        scope.path: sum(call.phase.name != "Backward" for call in scope.calls)
        for scope in tape.scopes(depth=9, per_call=True).scopes
    }
    return {path: count for path, count in counts.items() if count}


def run(*modules: nn.Module, named: bool) -> tuple[tidemark.Tape, tidemark.Tape]:
    x = torch.rand(8, 16)
    owners = modules if named else ()
    with tidemark.track(*owners) as tracking, tidemark.profile(*owners) as profiling:
        for module in modules:
            module(x).sum().backward()
    return tracking.tape, profiling.tape


def test_names_are_paths_of_attributes_and_wrappers_take_no_level() -> None:
    tracked, profiled = (calls(tape) for tape in run(Model(), named=False))
    assert profiled == tracked
    assert profiled["Model.layers.2.forward_net.0"] == 1
    assert profiled["Model.layers.1.attention"] == 2  # once more in the backward
    assert not any("Linear" in path for path in profiled)


def test_a_second_root_of_a_class_has_a_name_of_its_own() -> None:
    tracked, profiled = (calls(tape) for tape in run(Block(), Block(), named=True))
    assert profiled == tracked
    assert len([path for path in profiled if "." not in path]) == 2


def test_a_part_of_a_named_model_is_no_root() -> None:
    model = Model()
    with tidemark.profile(model) as profiling:
        model.layers[0].attention(torch.rand(8, 16))
    assert calls(profiling.tape) == {"Model.layers.0.attention": 1}


def test_a_module_that_has_died_keeps_class_and_number() -> None:
    x = torch.rand(8, 16)
    with tidemark.profile() as profiling:
        block = Block()
        block(x)
        del block
        gc.collect()
    paths = calls(profiling.tape)
    assert "Block_0" in paths and "Block_0.Sequential_0.Linear_1" in paths


def test_parameters_that_were_there_before_are_their_modules() -> None:
    model = Block()
    _, profiled = run(model, named=False)
    owners = {event.bytes: event.scope for event in profiled
              if event.kind.name == "Alloc" and event.category.name == "Parameter"}  # fmt: skip
    assert owners[16 * 16 * 4] == "Block.attention"
    assert owners[32 * 4] == "Block.forward_net.0"
