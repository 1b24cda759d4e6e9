"""The first step makes the optimizer's state: that is what it is at the peak inside that step."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked_commands import run_command

import tidemark
from tidemark import Category

WIDTH = 1024
WEIGHT = 4 * WIDTH * WIDTH

# One weight, no bias: 4 MiB each for parameter, gradient and what the optimizer keeps.
TRAIN = """
import copy
import torch
from torch import optim
model = torch.nn.Linear({width}, {width}, bias=False).cuda()
parameters = list(model.parameters())

class Preconditioner:
    def __init__(self, like):
        self.factors = [torch.zeros_like(like), torch.zeros_like(like)]

class Own(optim.Optimizer):
    '''Makes its state late, after its scratch, in an object of its own.'''
    def __init__(self, parameters):
        super().__init__(parameters, {{}})
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for one in group["params"]:
                scratch = one.grad * 2
                state = self.state[one]
                if not state:
                    state["kept"] = Preconditioner(one)
                one.add_(scratch + state["kept"].factors[0])

class Replacing(optim.Optimizer):
    '''Keeps another tensor after each step.'''
    def __init__(self, parameters):
        super().__init__(parameters, {{}})
    @torch.no_grad()
    def step(self):
        for one in self.param_groups[0]["params"]:
            self.state[one]["last"] = one.grad * 2

class Overriding(optim.Adam):
    def step(self, closure=None):
        return super().step(closure)

others = []
class Loading(optim.Adam):
    '''Takes up a copy of its state between steps, of which the later ones need more.'''
    def zero_grad(self):
        super().zero_grad()
        others.append(torch.zeros({width}, {width}, device="cuda"))
        self.load_state_dict(copy.deepcopy(self.state_dict()))

optimizer = {optimizer}
for _ in range({steps}):
    model(torch.randn(8, {width}, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def peak_of(folder: Path, optimizer: str, steps: int = 1) -> tidemark.DevicePeak:
    script = folder / "train.py"
    script.write_text(TRAIN.format(width=WIDTH, optimizer=optimizer, steps=steps))
    done = run_command("estimate", "--steps", steps, "--save", folder / "run.tape", script, timeout=120)
    assert done.returncode == 0, done.stderr
    return tidemark.open(folder / "run.tape").peak().devices[0]


@pytest.mark.parametrize(("optimizer", "kept", "scratch"), [
    # Scratch is what the step needs beside its state at its highest: by hand from the update rules.
    ("optim.Adam(parameters, foreach=True)", 2, 1),
    ("optim.Adam(parameters, foreach=False)", 2, 2),
    ("optim.Adam(parameters, fused=True)", 2, 0),
    ("optim.Adam(parameters, amsgrad=True, foreach=False)", 3, 2),
    ("optim.AdamW(parameters)", 2, 1),
    ("optim.SGD(parameters, lr=1, momentum=0.9)", 1, 0),
    ("optim.Adagrad(parameters)", 1, 2),  # which makes its state with itself
    ("Own(parameters)", 2, 2),
    ("Overriding(parameters)", 2, 1),
])
def test_state_is_state_at_the_peak_of_the_first_step(
    tmp_path: Path, optimizer: str, kept: int, scratch: int
) -> None:
    peak = peak_of(tmp_path, optimizer)
    assert str(peak.at.phase) == "optimizer" and peak.at.step == 1
    small = 64 << 10  # activations, counters of steps
    categories = peak.categories
    assert 0 <= categories[Category.OptimizerState] - kept * WEIGHT < small
    assert 0 <= categories.get(Category.Temporary, 0) - scratch * WEIGHT < small
    assert categories[Category.Parameter] == categories[Category.Gradient] == WEIGHT


def test_state_that_is_replaced_in_each_step_is_state(tmp_path: Path) -> None:
    """While the second step makes the new tensor, the old one is kept, too."""
    peak = peak_of(tmp_path, "Replacing(parameters)", steps=3)
    assert peak.categories[Category.OptimizerState] == 2 * WEIGHT
    assert Category.Temporary not in peak.categories


def test_state_that_is_loaded_between_steps_is_state(tmp_path: Path) -> None:
    peak = peak_of(tmp_path, "Loading(parameters, foreach=False)", steps=2)
    assert peak.at.step == 2 and str(peak.at.phase) == "optimizer"
    assert 0 <= peak.categories[Category.OptimizerState] - 2 * WEIGHT < 64 << 10


def test_the_tape_is_sound_and_in_order(tmp_path: Path) -> None:
    peak_of(tmp_path, "optim.Adam(parameters)", steps=2)
    tape = tidemark.open(tmp_path / "run.tape")
    assert not list(tidemark.verify(tape))
    times = list(tape.columns.time_ns)
    assert times == sorted(times)
