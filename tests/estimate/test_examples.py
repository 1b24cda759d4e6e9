"""Every example script, run by the estimate command as a user would."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from estimating import EXAMPLES, ask_estimate

SCRIPTS = sorted(p.stem for p in EXAMPLES.glob("train_*.py"))


def estimate(*words: str) -> tuple[int, dict[str, Any]]:
    done = ask_estimate(*words, timeout=120)
    assert done.facts, done.script_output
    return done.exit_code, done.facts


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_runs_two_steps_and_fits(name: str) -> None:
    ranks = ["--world-size", "8"] if name in ("train_ddp", "train_llama_fsdp") else []
    code, facts = estimate("--steps", "2", *ranks, str(EXAMPLES / f"{name}.py"))
    assert (code, facts["verdict"], facts["fits"], facts["run"]["steps"]) == (0, "fits", True, 2)
    device = facts["peak"]["devices"][0]
    assert device["device"] == "cuda:0"
    assert sum(device["categories"].values()) == device["allocated_bytes"]
    assert device["requested_bytes"] <= device["allocated_bytes"]
    assert device["at"]["step"] >= 1 and device["at"]["source"]


def test_gpt_holds_its_parameters_and_both_moments_at_the_peak() -> None:
    """Tied head: tokens, positions, 12 blocks and the last norm, by hand."""
    width = 768
    block = 4 * width + (3 * width * width + 3 * width) + (width * width + width) + (
        8 * width * width + 5 * width)
    parameters = 50_257 * width + 1024 * width + 12 * block + 2 * width
    _, facts = estimate(str(EXAMPLES / "train_gpt.py"))
    categories = facts["peak"]["devices"][0]["categories"]
    rounding = 512 * 148  # one for each of the model's storages
    assert 4 * parameters <= categories["Parameter"] <= 4 * parameters + rounding
    assert 8 * parameters <= categories["OptimizerState"] <= 8 * parameters + 2 * rounding


def test_a_small_gpu_does_not_fit_and_the_first_failure_is_named() -> None:
    code, facts = estimate("--gpu", "t4", str(EXAMPLES / "train_gpt.py"), "--batch", "32")
    assert (code, facts["verdict"], facts["fits"]) == (1, "does not fit", False)
    first = facts["run"]["out_of_memory"]
    assert first["allocated_bytes"] <= facts["run"]["gpu"]["memory_bytes"]
    assert first["at"]["source"].startswith(str(EXAMPLES / "train_gpt.py"))


def test_a_script_that_raises_ends_with_what_was_known(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("import torch\nx = torch.zeros(1 << 20, device='cuda')\nraise KeyError('oops')\n")
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "--json", str(script)],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "KeyError: 'oops'" in done.stderr and "broken.py\", line 3" in done.stderr
    assert json.loads(done.stdout)["peak"]["devices"][0]["allocated_bytes"] == 4 << 20


def test_a_missing_script_is_said_with_a_hint(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", str(tmp_path / "no.py")],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "no such script" in done.stderr and "hint" in done.stderr
