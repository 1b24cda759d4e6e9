"""`tidemark record`: any script, no change in it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from forked_commands import run_command

import tidemark

SCRIPT = """
import sys
import torch
from torch import nn
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))
optimizer = torch.optim.Adam(model.parameters())
for step in range(5):
    model(torch.randn(8, 32)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    print("step", step, sys.argv[1:])
if "fail" in sys.argv:
    raise ValueError("as asked")
if "greedy" in sys.argv:
    torch.empty(2**56)
"""


def record(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    words = [str(script) if word == "SCRIPT" else word for word in arguments]
    return run_command("record", *words, cwd=tmp_path)


def test_a_script_is_recorded_and_reported(tmp_path: Path) -> None:
    run = record(tmp_path, "--save", "run.tape", "SCRIPT", "--flag")
    assert run.returncode == 0, run.stderr
    assert "By module" in run.stdout
    assert "model" in run.stdout
    assert "step 4 ['--flag']" in run.stderr
    tape = tidemark.open(str(tmp_path / "run.tape"))
    assert not list(tidemark.verify(tape))
    parameters = (32 * 64 + 64 + 64 * 32 + 32) * 4
    scopes = {scope.path: scope for scope in tape.scopes().scopes}
    assert scopes["model"].parameter_bytes == parameters


def test_workspace_is_told_apart_on_request(tmp_path: Path) -> None:
    """A decomposition takes room of its own, which its results do not keep."""
    script = tmp_path / "svd.py"
    script.write_text("import torch\ntorch.linalg.svd(torch.randn(64, 64))\n")
    seen = {}
    for flags in ([], ["--operators"]):
        run = record(tmp_path, *flags, "--save", "run.tape", str(script))
        assert run.returncode == 0, run.stderr
        tape = tidemark.open(str(tmp_path / "run.tape"))
        seen[len(flags)] = {event.category.name for event in tape.events}
    assert "Workspace" in seen[1] and "Workspace" not in seen[0]


def test_it_ends_after_the_wanted_steps(tmp_path: Path) -> None:
    run = record(tmp_path, "--steps", "2", "--json", "SCRIPT")
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert facts["steps"] == 2
    assert "step 1" not in run.stderr and "step 0" in run.stderr


def test_a_failing_script_is_reported_all_the_same(tmp_path: Path) -> None:
    run = record(tmp_path, "SCRIPT", "fail")
    assert run.returncode == 1  # as Python itself says it
    assert "ValueError: as asked" in run.stderr
    assert "By module" in run.stdout


def test_running_out_of_memory_is_explained(tmp_path: Path) -> None:
    """2**58 bytes: no processor has so many addresses. Less is granted where a system overcommits."""
    run = record(tmp_path, "SCRIPT", "greedy")
    assert run.returncode == 1
    assert "tidemark: out of memory on cpu: 256.00 PiB more were wanted" in run.stderr


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    run = record(tmp_path, "nothing.py")
    assert run.returncode == 2
    assert "no such script" in run.stderr
