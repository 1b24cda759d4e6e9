"""A training step is the same to `estimate` and to `record`: from a forward to the next one's begin.

Each script runs under both. It leaves storages of sizes that nothing else has; the step in which
the tape has each of them is known by hand.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from forked_commands import run_command

import tidemark

GIVEN = """
import sys, torch
device = sys.argv[1]
kept = []
def mark(size):
    kept.append(torch.empty(size, dtype=torch.uint8, device=device))
model, other = (torch.nn.Linear(8, 8).to(device) for _ in range(2))
optimizer, second = (torch.optim.SGD(one.parameters()) for one in (model, other))
def forward(module=model):
    return module(torch.ones(2, 8, device=device)).sum()
"""

# The script, the step of each mark, and the training steps that are done at its end.
PLAIN = ("""
mark(101)
with torch.no_grad():
    forward()
mark(102)
for step in range(3):
    mark(201 + step)
    loss = forward()
    mark(301 + step)
    loss.backward()
    optimizer.step()
    mark(401 + step)
""", {101: 0, 102: 0, 201: 0, 202: 1, 203: 2, 301: 1, 302: 2, 303: 3, 401: 1, 402: 2, 403: 3}, 3)

ACCUMULATION = ("""
for step in range(2):
    for part in range(3):
        forward().backward()
        mark(201 + 10 * step + part)
    optimizer.step()
    optimizer.zero_grad()
    mark(301 + step)
""", {201: 1, 202: 1, 203: 1, 211: 2, 212: 2, 213: 2, 301: 1, 302: 2}, 2)

TWO_OPTIMIZERS = ("""
for step in range(2):
    (forward() + forward(other)).backward()
    optimizer.step()
    mark(201 + step)
    second.step()
    mark(301 + step)
""", {201: 1, 202: 2, 301: 1, 302: 2}, 2)

TAKING_TURNS = ("""
for step in range(2):
    forward().backward()
    optimizer.step()
    mark(201 + step)
    forward(other).backward()
    second.step()
    mark(301 + step)
""", {201: 1, 202: 3, 301: 2, 302: 4}, 4)

WITHOUT_MODULES = ("""
weight = torch.ones(8, device=device, requires_grad=True)
plain = torch.optim.SGD([weight])
mark(101)
torch.ones(8, device=device) * 3
mark(102)
for step in range(2):
    loss = (weight * 3).sum()
    mark(201 + step)
    loss.backward()
    plain.step()
    mark(301 + step)
""", {101: 0, 102: 0, 201: 1, 202: 2, 301: 1, 302: 2}, 2)

CLOSURE = ("""
solver = torch.optim.LBFGS(model.parameters(), max_iter=2)
def closure():
    solver.zero_grad()
    loss = forward()
    loss.backward()
    return loss
mark(101)
for step in range(2):
    solver.step(closure)
    mark(201 + step)
""", {101: 0, 201: 1, 202: 2}, 2)

UNFINISHED = ("""
forward().backward()
optimizer.step()
forward()
mark(201)
""", {201: 2}, 1)

SCRIPTS = {"plain": PLAIN, "accumulation": ACCUMULATION, "two optimizers": TWO_OPTIMIZERS,
           "taking turns": TAKING_TURNS, "without modules": WITHOUT_MODULES, "closure": CLOSURE,
           "unfinished": UNFINISHED}


def tape_of(verb: str, folder: Path, text: str, *flags: str) -> tidemark.Tape:
    (folder / "train.py").write_text(GIVEN + text)
    device = "cuda" if verb == "estimate" else "cpu"
    done = run_command(verb, "--save", "run.tape", *flags, "train.py", device, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    return tidemark.open(folder / "run.tape")


@pytest.mark.parametrize("verb", ["estimate", "record"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_steps_begin_with_a_forward(tmp_path: Path, verb: str, name: str) -> None:
    text, expected, done = SCRIPTS[name]
    tape = tape_of(verb, tmp_path, text, "--steps", "0")
    found = {event.bytes: tape.step_at(number) for number, event in enumerate(tape.events)
             if event.kind == tidemark.Kind.Alloc and event.bytes in expected}
    assert found == expected
    assert tape.meta["run.steps"] == str(done)
    assert tape.meta["run.ended"] == "script"


@pytest.mark.parametrize("verb", ["estimate", "record"])
@pytest.mark.parametrize(("name", "optimizers", "said"), [
    ("plain", 1, "3 steps"), ("two optimizers", 2, "2 steps of 2 optimizers"),
    ("taking turns", 2, "4 steps of 2 optimizers")])
def test_the_report_says_of_how_many_optimizers(
    tmp_path: Path, verb: str, name: str, optimizers: int, said: str
) -> None:
    overview = tape_of(verb, tmp_path, SCRIPTS[name][0], "--steps", "0").report()
    assert overview.run.optimizers == json.loads(overview.to_json())["run"]["optimizers"] == optimizers
    assert any(re.match(rf"{said}(,| and)", line) for line in str(overview).splitlines())


@pytest.mark.parametrize("verb", ["estimate", "record"])
@pytest.mark.parametrize(("name", "done"), [("plain", 2), ("two optimizers", 2), ("taking turns", 4)])
def test_a_run_ends_when_each_optimizer_has_made_the_wanted_steps(
    tmp_path: Path, verb: str, name: str, done: int
) -> None:
    tape = tape_of(verb, tmp_path, SCRIPTS[name][0], "--steps", "2")
    assert (tape.meta["run.ended"], tape.meta["run.steps"]) == ("steps", str(done))
    assert tape.steps == done
