"""What closures, unusual optimizers, copies of models and DDP make is told for what it is.

One script for each, under `estimate` and under `record`. Every storage that matters has a size that
nothing else has; what it must be is known by hand.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tidemark

GIVEN = """
import copy, os, sys, torch
from torch import nn
device = sys.argv[1]
"""

# Of 100 rows: the product is made outside of modules, the gradient is the weight's.
CLOSURE = ("""
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(30, 70, device=device))
    def forward(self, x):
        return x @ self.weight
layer = Layer()
other = torch.ones(70, 11, device=device, requires_grad=True)
optimizer = torch.optim.{optimizer}([*layer.parameters(), other], lr=0.1)
inputs = torch.ones(100, 30, device=device)
def closure():
    optimizer.zero_grad()
    loss = (layer(inputs) @ other).exp().sum()
    loss.backward()
    return loss
for step in range(2):
    optimizer.step(closure)
""", {4 * 100 * 70: {"Activation"}, 4 * 100 * 11: {"Activation", "Temporary"}},
    {4 * 100 * 70: "Layer"})

UNUSUAL_OPTIMIZER = ("""
class Unusual(torch.optim.Optimizer):
    def __init__(self, parameters):
        parameters = list(parameters)
        super().__init__([dict(params=parameters, buffer=torch.zeros(1001, device=device))], {})
        self.kept = {"momenta": [torch.zeros(1003, device=device)]}
        self.average = torch.zeros(1005, device=device)
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for one in group["params"]:
                self.state[one].setdefault("slow", torch.zeros(1007, device=device))
                one -= 0.1 * one.grad
model = nn.Linear(8, 8).to(device)
optimizer = Unusual(model.parameters())
for step in range(2):
    model(torch.ones(2, 8, device=device)).sum().backward()
    optimizer.step()
""", {4 * number: {"OptimizerState"} for number in (1001, 1003, 1005, 1007)}, {})

COPIES = ("""
from torch.optim.swa_utils import AveragedModel
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(30, 70, bias=False)
    def forward(self, x):
        return self.first(x)
model = Net().to(device)
class Trainer:
    def __init__(self):
        self.teacher = copy.deepcopy(model)
trainer = Trainer()
average = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    model(torch.ones(2, 30, device=device)).sum().backward()
    optimizer.step()
    average.update_parameters(model)
""", {4 * 30 * 70: {"Parameter", "Gradient", "Other"}}, {})

DDP = ("""
import torch.distributed as dist
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
dist.init_process_group("nccl" if device == "cuda" else "gloo", rank=0, world_size=1,
                        store=dist.HashStore())
model = nn.parallel.DistributedDataParallel(nn.Linear(30, 70, bias=False).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(torch.ones(2, 30, device=device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""", {4 * 30 * 70: {"Parameter", "Gradient", "Communication"}}, {})

SCRIPTS = {
    "closure": (CLOSURE[0].replace("{optimizer}", "SGD"), *CLOSURE[1:]),
    "solver": (CLOSURE[0].replace("{optimizer}", "LBFGS"), *CLOSURE[1:]),
    "unusual optimizer": UNUSUAL_OPTIMIZER,
    "copies": COPIES,
    "buckets": DDP,
}


def tape_of(verb: str, folder: Path, text: str) -> tidemark.Tape:
    (folder / "train.py").write_text(GIVEN + text)
    device = "cuda" if verb == "estimate" else "cpu"
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", verb, "--steps", "0", "--save", "run.tape", "train.py", device],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return tidemark.open(folder / "run.tape")


def last_words(tape: tidemark.Tape) -> list[tuple[int, str, str]]:
    """Bytes, category and owner of every storage, as the tape has them in the end."""
    known: dict[int, tuple[int, str, str]] = {}
    for event in tape.events:
        if event.kind in (tidemark.Kind.Alloc, tidemark.Kind.Relabel):
            bytes_before, _, owner = known.get(event.subject, (event.bytes, "", ""))
            known[event.subject] = (bytes_before, event.category.name, event.scope or owner)
    return list(known.values())


@pytest.mark.parametrize("verb", ["estimate", "record"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_storages_are_what_they_are_for(tmp_path: Path, verb: str, name: str) -> None:
    text, expected, owners = SCRIPTS[name]
    words = last_words(tape_of(verb, tmp_path, text))
    found = {size: {category for bytes_, category, _ in words if bytes_ == size} for size in expected}
    assert found == expected
    for size, owner in owners.items():
        assert {scope for bytes_, _, scope in words if bytes_ == size} == {owner}
