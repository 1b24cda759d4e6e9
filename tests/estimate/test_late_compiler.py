"""PyTorch's compiler is not loaded by scripts that compile nothing, and whoever loads it finds it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from forked_commands import run_forked

TRAIN = """
import sys, torch
{before}
layers = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(4))).cuda()
optimizer = torch.optim.{optimizer}(layers.parameters(), lr=0.1)
for step in range(2):
    x = torch.randn(32, 64, device="cuda", requires_grad=True)
    {forward}.logsumexp(1).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    optimizer.load_state_dict(optimizer.state_dict())
{after}
"""
PLAIN = {"before": "", "forward": "layers(x)", "after": "", "optimizer": "AdamW"}
IS_LOADED = "print('torch._dynamo' in sys.modules)"


def run(folder: Path, **parts: str) -> tuple[str, dict[str, Any]]:
    """What the script printed, and the facts of its report."""
    program = folder / "train.py"
    program.write_text(TRAIN.format(**PLAIN | parts))
    # Of a process that has not loaded it, whatever the program's words are.
    done = run_forked(["estimate", "--json", str(program)], folder, 120, dict(os.environ), modules=())
    assert done and done.returncode == 0, done
    return done.stderr, json.loads(done.stdout)


def numbers_of(facts: dict[str, Any]) -> list[Any]:
    (device,) = facts["peak"]["devices"]
    names = "allocated_bytes", "requested_bytes", "categories", "alive_count"
    return [facts["run"]["ops"], device["at"]["event"], *(device[name] for name in names)]


@pytest.mark.parametrize("optimizer", ["AdamW", "SGD", "Adafactor", "RMSprop"])
def test_a_training_script_does_not_load_it(tmp_path: Path, optimizer: str) -> None:
    said, _ = run(tmp_path, after=IS_LOADED, optimizer=optimizer)
    assert said.splitlines()[-1] == "False"


@pytest.mark.parametrize("forward", ["layers(x)", "checkpoint(layers, x, use_reentrant=False)"])
def test_memory_is_the_same_where_the_program_loads_it(tmp_path: Path, forward: str) -> None:
    """Checkpoints load it in the first forward, when the optimizer is there already."""
    imported = "from torch.utils.checkpoint import checkpoint"
    _, plain = run(tmp_path, before=imported, forward=forward)
    said, loaded = run(tmp_path, before=imported + "; import torch._dynamo", forward=forward,
                       after=IS_LOADED)
    assert said.splitlines()[-1] == "True"
    assert numbers_of(plain) == numbers_of(loaded)


def test_what_is_left_out_is_left_out_as_pytorch_does_it_once_it_is_loaded(tmp_path: Path) -> None:
    said, _ = run(tmp_path, after="""
import torch._dynamo
for _ in range(2):
    optimizer.zero_grad()
    how = torch.optim.Optimizer.zero_grad.__closure__
    print([vars(c.cell_contents)['__dynamo_disable'].__module__ for c in how if callable(c.cell_contents)])
""")
    assert said.splitlines()[-2:] == ["['torch._dynamo.eval_frame']"] * 2


@pytest.mark.parametrize(("differentiable", "told"), [
    (False, "hooked"),
    (True, "a leaf Variable that requires grad is being used in an in-place operation."),
])
def test_a_step_records_gradients_where_the_optimizer_is_to(
        tmp_path: Path, differentiable: bool, told: str) -> None:
    said, _ = run(tmp_path, after=f"""
weight = torch.ones(4, device="cuda", requires_grad=True)
weight.grad = torch.ones_like(weight)
other = torch.optim.SGD([weight], lr=0.1, differentiable={differentiable})
other.register_step_post_hook(lambda *_: print("hooked"))
try:
    other.step()
except RuntimeError as error:
    print(error)
assert torch.is_grad_enabled()
""")
    assert said.splitlines()[-1] == told


def test_closed_gpus_leave_pytorch_as_it_was(tmp_path: Path) -> None:
    program = tmp_path / "open_and_close.py"
    program.write_text("""
import sys
from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import close_gpus, load, open_gpus

load()
import torch

zero_grad = torch.optim.Optimizer.zero_grad.__wrapped__
before = torch.optim.AdamW.step.__code__, vars(zero_grad).copy()
open_gpus(CATALOGUE["h100"])
assert torch.optim.SGD.step.__code__ is not before[0] and vars(zero_grad) != before[1]
optimizer = torch.optim.SGD([torch.ones(4, device="cuda", requires_grad=True)])
optimizer.zero_grad()
close_gpus()
assert torch.optim.SGD.step.__wrapped__.__code__ is before[0] and vars(zero_grad) == before[1]
assert "torch._dynamo" not in sys.modules
optimizer.zero_grad()
assert "torch._dynamo" in sys.modules
""")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
