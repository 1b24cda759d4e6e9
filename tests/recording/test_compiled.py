"""A compiled program is followed: its parameters, gradients and modules, and no storages of trials."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import torch
from forked_commands import run_command
from torch import nn

import tidemark


def test_a_compiled_model_has_its_parameters_gradients_and_calls() -> None:
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fast = torch.compile(model, backend="aot_eager")
    x = torch.randn(8, 256)
    with warnings.catch_warnings(), tidemark.track() as tracking:
        warnings.simplefilter("ignore")  # the compiler's, that there are hooks
        for _ in range(2):
            fast(x).sum().backward()
            gradients = tracking.current["cpu"]["Gradient"]
            optimizer.step()
            optimizer.zero_grad()
    weights = sum(one.nbytes for one in model.parameters())
    assert gradients == tracking.peak["cpu"]["Parameter"] == weights
    assert set(tracking.peak) == {"cpu"}  # and not meta
    events = [tracking.tape.events[i] for i in range(len(tracking.tape))]
    calls = [(one.scope, one.phase.name) for one in events if one.kind.name == "ScopeBegin"]
    assert calls[:2] == [(calls[0][0], "Forward"), (calls[0][0], "Backward")] and len(calls) == 4


SCRIPT = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))
optimizer = torch.optim.Adam(model.parameters())
fast = torch.compile(model)
x = torch.randn(8, 256)
for _ in range(2):
    fast(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_the_command_follows_what_the_default_compiler_makes(tmp_path: Path) -> None:
    """Most of its time is the C++ compiler's, so the processor's vectors are not tried out."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    done = run_command("record", "--json", script, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "compiled"),
                       TORCHINDUCTOR_VEC_ISA_OK="0")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert [row["device"] for row in facts["peak"]["devices"]] == ["cpu"]  # and not meta
    assert list((tmp_path / "compiled").rglob("*.so"))  # it was compiled
    (peak,) = facts["peak"]["devices"]
    weights = 4 * (256 * 512 + 512 + 512 * 256 + 256)
    assert peak["at"]["phase"] == "optimizer"
    assert peak["categories"]["Parameter"] == peak["categories"]["Gradient"] == weights
    # Two moments of each weight, and a counter of steps for each of the four.
    assert peak["categories"]["OptimizerState"] == 2 * weights + 4 * 4
