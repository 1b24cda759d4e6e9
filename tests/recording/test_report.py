"""The report of a recorded run: who owns the peak, module by module, as the saved tape tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from forked_commands import run_command
from torch import nn
from torch.utils.checkpoint import checkpoint

import tidemark


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def tracked() -> Any:
    model, x = Net(), torch.randn(512, 64)
    with tidemark.track(model, x) as tracking:
        model(x).sum().backward()
    return tracking


def test_a_tracking_tells_what_its_tape_tells() -> None:
    tracking = tracked()
    facts = tracking.facts(depth=2)
    peak = json.loads(tracking.tape.peak().to_json())["devices"][0]
    assert facts["peak"]["devices"][0] == peak | {
        "modules": facts["peak"]["devices"][0]["modules"]}  # down to the depth asked for
    scopes = json.loads(tracking.tape.scopes(depth=2).to_json())
    assert facts["scopes"]["scopes"] == scopes["scopes"]


def test_depth_zero_shows_all_modules_and_their_recomputation() -> None:
    tracking = tracked()
    text = tracking.report(depth=0)
    modules = {scope.path: scope for scope in tracking.overview(depth=0).scopes.scopes}
    assert {"Net", "Net.blocks.0", "Net.blocks.1", "Net.blocks.2"} <= modules.keys()
    assert {str(calls.phase) for calls in modules["Net.blocks.1"].phases} == {
        "forward", "backward", "recompute"}
    assert "in recompute" in text and "By module" in text and "What the highest" in text
    assert modules["Net.blocks.1"].parameter_bytes == 4 * (64 * 64 + 64)


def test_the_first_look_leaves_the_mixtures_of_modules_out() -> None:
    assert "What the highest" not in tracked().report()


@pytest.mark.parametrize("flag", ["--json", "--depth=1"])
def test_the_command_tells_what_the_saved_tape_tells(tmp_path: Path, flag: str) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(64, 64))\n"
                      "model(torch.randn(512, 64)).sum().backward()\n")
    run = run_command("record", flag, "--save", "run.tape", script, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    peak = json.loads(tidemark.open(str(tmp_path / "run.tape")).peak().to_json())["devices"][0]
    if flag == "--json":
        assert json.loads(run.stdout)["peak"]["devices"][0]["owners"] == peak["owners"]
        return
    owned = sum(one["allocated_bytes"] for one in peak["owners"] if one["scope"])
    (line,) = [one for one in run.stdout.split("\n") if one.startswith("  model  ")
               and "KiB" in one]
    assert f"  {owned / 1024:.2f} KiB  " in line
