"""The same script under `estimate` and under `record`: the same modules, steps and phases.

Bytes are compared where the hardware does not decide them: parameters, buffers, gradients and
optimizer state at the end of each step.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tidemark

HEAD = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
"""
TRAIN = """
for _ in range(3):
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
SCRIPTS = {
    "chain": """
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "nested": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.ff = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
    def forward(self, x):
        return x + self.ff(self.norm(x))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(64, 8)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "two roots of one class": """
first, model = nn.Linear(64, 64).to(device), nn.Linear(64, 64).to(device)
optimizer = torch.optim.SGD([*first.parameters(), *model.parameters()], lr=0.1, momentum=0.9)
x = torch.randn(32, 64, device=device)
for _ in range(2):
    model(first(x)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "recomputed": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x):
        return self.b(checkpoint(self.a, x, use_reentrant=False).relu())
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "frozen": """
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).to(device)
model[0].requires_grad_(False)
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "buffers": """
model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU()).to(device)
optimizer = torch.optim.RMSprop(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "accumulated": """
model = nn.Linear(64, 64).to(device)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    for _ in range(3):
        model(torch.randn(8, 64, device=device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "tied": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(64, 64), nn.Linear(64, 64)
        self.outer.weight = self.inner.weight
    def forward(self, x):
        return self.outer(self.inner(x))
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "evaluated": """
model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(), nn.Linear(64, 8)).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN + """
model.eval()
with torch.no_grad():
    model(x)
""",
    "inference": """
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).to(device)
with torch.no_grad():
    for _ in range(2):
        model(torch.randn(32, 64, device=device))
""",
}
LASTING = ("Parameter", "Buffer", "Gradient", "OptimizerState")
# Optimizers keep their counters of steps on the CPU, where an estimate does not look.
COUNTER_BYTES = 4


def tape_of(verb: str, script: Path) -> tidemark.Tape:
    path = script.with_name(f"{verb}.tape")
    flags = ["--steps", "0"] if verb == "estimate" else []
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", verb, *flags, "--save", str(path), str(script)],
        capture_output=True, text=True, timeout=300, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode in (0, 2), done.stderr
    return tidemark.open(path)


def calls_of(tape: tidemark.Tape) -> dict[str, dict[str, int]]:
    """How often each module was called in each phase; lists of modules are not called."""
    found = {
        scope.path: {calls.phase.name: calls.calls for calls in scope.phases}
        for scope in tape.scopes().scopes
    }
    return {path: calls for path, calls in found.items() if "Forward" in calls}


def lasting_bytes(tape: tidemark.Tape) -> list[dict[str, int]]:
    """What outlives a step, as requested, at each step's end; whatever the device."""
    alive: dict[int, tuple[str, int]] = {}
    ends: list[dict[str, int]] = []
    for event in (tape.events[i] for i in range(len(tape))):
        kind = event.kind.name
        if kind in ("Alloc", "Resize", "Relabel"):
            size = event.bytes if kind != "Relabel" else alive.get(event.storage, ("", 0))[1]
            label = event.category.name if kind != "Resize" else alive[event.storage][0]
            alive[event.storage] = (label, size)
        elif kind == "Free":
            alive.pop(event.storage, None)
        elif kind == "Step":
            ends.append(summed(alive))
    return [*ends, summed(alive)] if ends else []


def summed(alive: dict[int, tuple[str, int]]) -> dict[str, int]:
    sums = dict.fromkeys(LASTING, 0)
    for label, size in alive.values():
        if label in sums and size > COUNTER_BYTES:
            sums[label] += size
    return sums


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_means_the_same_both_ways(name: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(HEAD + SCRIPTS[name])
    estimated, recorded = tape_of("estimate", script), tape_of("record", script)
    assert calls_of(estimated) == calls_of(recorded)
    assert lasting_bytes(estimated) == lasting_bytes(recorded)
