"""What closures, unusual optimizers, copies of models and DDP make is told for what it is.

One script under `estimate` and under `record`. Every storage that matters has a size that nothing else
has; what it must be is known by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from forked_commands import run_command

import tidemark

SCRIPT = """
import copy, os, sys, torch
from torch import nn
from torch.optim.swa_utils import AveragedModel
import torch.distributed as dist
device = sys.argv[1]

class Layer(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.weight = nn.Parameter(torch.full((inner, outer), 0.01, device=device))
    def forward(self, x):
        return x @ self.weight

def train_with_closure(make, rows, inner, outer, last):
    # The product with `other` is made outside of modules.
    layer = Layer(inner, outer)
    other = torch.full((outer, last), 0.01, device=device, requires_grad=True)
    optimizer = make([*layer.parameters(), other], lr=0.1)
    inputs = torch.ones(rows, inner, device=device)
    def closure():
        optimizer.zero_grad()
        loss = (layer(inputs) @ other).pow(2).mean()
        loss.backward()
        return loss
    for step in range(2):
        optimizer.step(closure)

train_with_closure(torch.optim.SGD, 100, 30, 70, 11)
train_with_closure(torch.optim.LBFGS, 101, 31, 71, 13)

class Unusual(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__([dict(params=list(parameters), buffer=torch.zeros(1001, device=device))], {})
        self.kept = {"momenta": [torch.zeros(1003, device=device)]}
        self.average = torch.zeros(1005, device=device)
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for one in group["params"]:
                if "slow" not in self.state[one]:
                    self.state[one]["slow"] = torch.zeros(1007, device=device)
                one -= 0.1 * one.grad

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(32, 72, bias=False)
    def forward(self, x):
        return self.first(x)

class Trainer:
    def __init__(self, model):
        self.teacher = copy.deepcopy(model)

model = Net().to(device)
trainer, average = Trainer(model), AveragedModel(model)
optimizer = Unusual(model.parameters())
for step in range(2):
    model(torch.ones(2, 32, device=device)).sum().backward()
    optimizer.step()

lazy = nn.Sequential(nn.LazyLinear(74), nn.LazyBatchNorm1d()).to(device)
for step in range(2):
    lazy(torch.ones(2, 34, device=device)).sum().backward()

dist.init_process_group("nccl" if device == "cuda" else "gloo", rank=0, world_size=1,
                        store=dist.HashStore())
parallel = nn.parallel.DistributedDataParallel(nn.Linear(33, 73, bias=False).to(device))
optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
for step in range(3):
    parallel(torch.ones(2, 33, device=device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
FLOAT = 4


@pytest.fixture(scope="module", params=["estimate", "record"])
def lives(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Of every storage: its floats, what it was in the end, whose, and the phase of its birth."""
    verb, folder = request.param, tmp_path_factory.mktemp("owners")
    (folder / "train.py").write_text(SCRIPT)
    device = "cuda" if verb == "estimate" else "cpu"
    done = run_command(verb, "--steps", 0, "--save", "run.tape", "train.py", device, cwd=folder, timeout=240)
    assert done.returncode == 0, done.stderr
    return lives_on(tidemark.open(folder / "run.tape"))


def lives_on(tape: tidemark.Tape) -> list[list[str]]:
    found: list[list[str]] = []
    alive: dict[int, list[str]] = {}
    for event in tape.events:
        if event.kind == tidemark.Kind.Alloc:
            alive[event.storage] = [str(event.bytes // FLOAT), event.category.name, event.scope,
                                    event.phase.name]
            found.append(alive[event.storage])
        elif event.kind == tidemark.Kind.Relabel and event.storage in alive:
            life = alive[event.storage]
            life[1:3] = [event.category.name, event.scope or life[2]]
    return found


def categories(lives: list[list[str]], floats: int, phase: str = "") -> set[str]:
    return {life[1] for life in lives if life[0] == str(floats) and phase in ("", life[3])}


@pytest.mark.parametrize(("rows", "inner", "outer", "last"), [(100, 30, 70, 11), (101, 31, 71, 13)])
def test_a_closure_is_a_forward_and_a_backward(
    lives: list[list[str]], rows: int, inner: int, outer: int, last: int
) -> None:
    """SGD, and LBFGS, which calls it many times."""
    assert categories(lives, rows * outer, "Forward") == {"Activation"}  # in a module
    assert categories(lives, rows * last, "Forward") == {"Activation"}  # outside of modules
    assert not categories(lives, rows * outer, "Optimizer") | categories(lives, rows * last, "Optimizer")
    assert "Gradient" in categories(lives, inner * outer)
    owners = {life[2] for life in lives if life[0] == str(rows * outer) and life[3] == "Forward"}
    assert len(owners) == 1 and owners != {""}


@pytest.mark.parametrize("floats", [1001, 1003, 1005, 1007])
def test_what_an_optimizer_holds_anywhere_is_its_state(lives: list[list[str]], floats: int) -> None:
    assert categories(lives, floats) == {"OptimizerState"}


def test_a_copy_of_a_model_is_other_and_has_a_name(lives: list[list[str]]) -> None:
    owners = {life[2] for life in lives if life[:2] == [str(32 * 72), "Other"]}
    assert owners == {"Trainer.teacher.first", "AveragedModel.module.first"}


def test_a_lazy_module_has_parameters_once_their_shapes_are_known(lives: list[list[str]]) -> None:
    weights = [life for life in lives if life[0] == str(34 * 74)]
    assert {tuple(life[1:3]) for life in weights} >= {("Parameter", "lazy.0"), ("Gradient", "lazy.0")}
    assert {life[1] for life in lives if life[0] == "74" and life[2] == "lazy.1"} >= {"Parameter", "Buffer"}


def test_buckets_are_for_communication(lives: list[list[str]]) -> None:
    """Made twice: with the reducer, and when the order of the gradients is known."""
    assert categories(lives, 33 * 73) >= {"Parameter", "Gradient", "Communication"}
    of_bucket = [life for life in lives if life[:2] == [str(33 * 73), "Communication"]]
    assert len(of_bucket) == 2
