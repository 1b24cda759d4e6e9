"""What comes after the wanted steps: run to the script's end where that is soon, else told."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from forked_commands import run_command

MIB = 1 << 20

# Training needs little, evaluation 64 MiB at once.
TRAIN = """
import sys, time, torch
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters())
for step in range(4):
    model(torch.ones(2, 8, device="cuda")).sum().backward()
    optimizer.step()
{then}
"""
EVALUATE = "with torch.no_grad(): model(torch.ones(1 << 20, 8, device='cuda')); done = 'evaluated'\n"


def run(folder: Path, then: str, *flags: str) -> tuple[dict[str, Any], str, int]:
    (folder / "train.py").write_text(TRAIN.format(then=then))
    done = run_command("estimate", "--json", *flags, "train.py", cwd=folder, timeout=120)
    return json.loads(done.stdout), done.stderr, done.returncode


def peak_of(facts: dict[str, Any]) -> int:
    return int(facts["peak"]["devices"][0]["allocated_bytes"])


def test_a_short_script_is_run_to_its_end(tmp_path: Path) -> None:
    facts, _, code = run(tmp_path, EVALUATE)
    assert (code, facts["run"]["ended"], facts["run"]["steps"]) == (0, "script", 4)
    assert (facts["not_covered"], facts["judgement"]["partial"]) == ([], False)
    assert peak_of(facts) > 64 * MIB  # inputs and results of 32 MiB each


def test_who_names_the_steps_gets_no_more(tmp_path: Path) -> None:
    facts, _, code = run(tmp_path, EVALUATE, "--steps", "2")
    assert (code, facts["run"]["ended"], facts["run"]["steps"]) == (0, "steps", 2)
    assert facts["judgement"]["partial"] and "validation" in facts["not_covered"][0]
    assert peak_of(facts) < MIB


def test_a_long_script_is_ended_wherever_it_is(tmp_path: Path) -> None:
    """Where a bare `except` swallows the end, it comes again; `finally` blocks run."""
    then = EVALUATE + """
try:
    for second in range(60):
        time.sleep(1)
except BaseException as end:
    print('swallowed', type(end).__name__, file=sys.stderr)
try:
    while True:
        time.sleep(0.1)
finally:
    print('cleaned up', file=sys.stderr)
"""
    (tmp_path / "train.py").write_text(TRAIN.format(then=then))
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "--json", "--further", "2", "train.py"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert time.monotonic() - started < 50
    facts, told, code = json.loads(done.stdout), done.stderr, done.returncode
    assert (code, facts["run"]["ended"], facts["run"]["steps"]) == (0, "steps", 4)
    assert "swallowed StepsDone" in told and "cleaned up" in told
    assert 2 <= facts["run"]["further_seconds"] < 30
    (sentence,) = facts["not_covered"]
    assert "after step 4" in sentence and "--further SECONDS" in sentence
    assert peak_of(facts) > 64 * MIB  # what was reached counts


def test_an_error_after_the_steps_takes_nothing_away_from_them(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "raise ValueError('no metric')")
    assert (code, facts["verdict"], facts["run"]["ended"]) == (0, "fits", "steps")
    assert "ValueError: no metric" in facts["run"]["later_failure"]
    assert "ValueError: no metric (train.py:8)" in facts["not_covered"][0].replace(str(tmp_path) + "/", "")
    assert "Traceback" in told and "failed after the wanted steps" in told


def test_memory_that_runs_out_after_the_steps_is_too_much(tmp_path: Path) -> None:
    facts, _, code = run(tmp_path, EVALUATE, "--oom", "raise", "--gpu", "32MB")
    assert (code, facts["verdict"], facts["run"]["ended"]) == (1, "does not fit", "out-of-memory")


COMPILED = """
import torch
model = torch.compile(torch.nn.Linear(1024, 1024).cuda())
model(torch.ones({rows}, 1024, device="cuda"))
"""


def test_without_the_compiler_it_fits_or_nobody_can_tell(tmp_path: Path) -> None:
    """4 MiB of weights, and 4 KiB for every row of inputs and of results, on a GPU of 2 GB."""
    said = {}
    for rows in (1024, 1 << 20):
        (tmp_path / "train.py").write_text(COMPILED.format(rows=rows))
        done = run_command("estimate", "--gpu", "2GB", "--save", "run.tape", "train.py", cwd=tmp_path,
                           timeout=120)
        said[rows] = (done.returncode, " ".join(done.stdout.split()))
    assert said[1024][0] == 0 and "even uncompiled: needs" in said[1024][1]
    code, text = said[1 << 20]
    assert code == 2 and "Does not fit" not in text
    assert "Cannot tell whether it fits" in text and "does not fit uncompiled" in text
    assert "The budget of cuda:0" in text


def test_a_profiler_around_the_command_sees_its_end(tmp_path: Path) -> None:
    """Once Python has been told to forget what it was to raise, it asks for it at every call; one with
    a profiler then does nothing else."""
    (tmp_path / "train.py").write_text(TRAIN.format(then=EVALUATE))
    done = subprocess.run([sys.executable, "-m", "cProfile", "-m", "tidemark", "estimate", "train.py"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Fits") and "function calls" in done.stderr
