"""The report of a recorded run: who owns the peak, module by module, as the saved tape tells it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import tidemark
from tidemark.reporting.module_tables import modules_part, owners_lines

MIB = 2**20


def device() -> dict[str, Any]:
    """32 MiB, of which Net has 24: 8 itself, 12 in its first block's layer, 4 in its second block."""
    return {
        "peak_allocated_bytes": 32 * MIB,
        "owners": [
            {"scope": "Net.blocks.0.up", "allocated_bytes": 12 * MIB,
             "categories": {"Parameter": 9 * MIB, "Gradient": 3 * MIB}},
            {"scope": "Net", "allocated_bytes": 8 * MIB - 1000, "categories": {"Activation": 8 * MIB - 1000}},
            {"scope": None, "allocated_bytes": 8 * MIB, "categories": {"OptimizerState": 8 * MIB}},
            {"scope": "Net.blocks.1", "allocated_bytes": 4 * MIB, "categories": {"Parameter": 4 * MIB}},
            {"scope": "Net.head", "allocated_bytes": 1000, "categories": {"Parameter": 1000}},
        ],
    }


def test_the_peak_is_a_tree_of_owners_with_their_categories() -> None:
    assert owners_lines(device(), 0, 100) == [
        "",
        "  who owns it",
        "     24.00 MiB   75.0 %  Net                   Parameter 54 %, Activation 33 %, Gradient 12 %",
        "     16.00 MiB   50.0 %    blocks              Parameter 81 %, Gradient 19 %",
        "     12.00 MiB   37.5 %      0                 Parameter 75 %, Gradient 25 %",
        "     12.00 MiB   37.5 %        up              Parameter 75 %, Gradient 25 %",
        "      4.00 MiB   12.5 %      1                 Parameter 100 %",
        "      8.00 MiB   25.0 %  (outside of modules)  OptimizerState 100 %",
    ]


def test_a_depth_adds_what_is_below_and_a_width_leaves_categories_out() -> None:
    assert owners_lines(device(), 1, 68) == [
        "",
        "  who owns it",
        "     24.00 MiB   75.0 %  Net                   Parameter 54 %",
        "      8.00 MiB   25.0 %  (outside of modules)  OptimizerState 100 %",
    ]


def test_without_modules_there_is_no_tree() -> None:
    only = device() | {"owners": device()["owners"][2:3]}
    assert owners_lines(only, 0, 80) == []


def test_a_module_shows_its_peaks_and_what_the_highest_is_made_of() -> None:
    peaks = [
        {"phase": "forward", "peak_bytes": 2 * MIB, "categories": {"Activation": 2 * MIB}},
        {"phase": "backward", "peak_bytes": 4 * MIB,
         "categories": {"Activation": MIB, "Gradient": 3 * MIB}},
    ]
    modules = [{"module": "Net", "parameter_bytes": MIB, "peaks": peaks},
               {"module": "Net.a", "parameter_bytes": 0, "peaks": []},
               {"module": "Net.b", "parameter_bytes": 0, "peaks": peaks[:1]}]
    assert modules_part(modules, 80).split("\n") == [
        "peak while a module runs",
        "    parameters      forward     backward  module",
        "      1.00 MiB     2.00 MiB     4.00 MiB  Net",
        "             -            -            -    a",
        "             -     2.00 MiB            -    b",
        "",
        "the highest of these by category, in percent",
        "  Activation  Gradient  module",
        "        25.0      75.0  Net",
        "           -         -    a",
        "       100.0       0.0    b",
    ]


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
    found = facts["devices"][0]
    assert found["peak_allocated_bytes"] == peak["allocated_bytes"]
    assert found["owners"] == peak["owners"]
    assert sum(owner["allocated_bytes"] for owner in found["owners"]) == peak["allocated_bytes"]
    scopes = {scope.path: scope for scope in tracking.tape.scopes(depth=2).scopes}
    assert [module["module"] for module in facts["modules"]] == list(scopes)
    for module in facts["modules"]:
        told = {(str(calls.phase), device.peak) for calls in scopes[module["module"]].phases
                for device in calls.devices}
        assert {(one["phase"], one["peak_bytes"]) for one in module["peaks"]} == told


def test_depth_zero_shows_all_modules_and_their_recomputation() -> None:
    tracking = tracked()
    text = tracking.report(depth=0)
    modules = {module["module"]: module for module in tracking.facts(depth=0)["modules"]}
    assert {"Net", "Net.blocks.0", "Net.blocks.1", "Net.blocks.2"} <= modules.keys()
    assert {one["phase"] for one in modules["Net.blocks.1"]["peaks"]} == {
        "forward", "backward", "recompute"}
    assert "recompute" in text and "who owns it" in text
    parameters = 4 * (64 * 64 + 64)
    assert modules["Net.blocks.1"]["parameter_bytes"] == parameters


@pytest.mark.parametrize("flag", ["--json", "--depth=1"])
def test_the_command_tells_what_the_saved_tape_tells(tmp_path: Path, flag: str) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(64, 64))\n"
                      "model(torch.randn(512, 64)).sum().backward()\n")
    run = subprocess.run(
        [sys.executable, "-m", "tidemark", "record", flag, "--save", "run.tape", str(script)],
        capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    peak = json.loads(tidemark.open(str(tmp_path / "run.tape")).peak().to_json())["devices"][0]
    if flag == "--json":
        assert json.loads(run.stdout)["devices"][0]["owners"] == peak["owners"]
        return
    owned = sum(one["allocated_bytes"] for one in peak["owners"] if one["scope"])
    (line,) = [one for one in run.stdout.split("\n") if one.split()[-1:] and " %  Sequential" in one]
    assert line.startswith(f"  {owned / 1024:>8.2f} KiB")
