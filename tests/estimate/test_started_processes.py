"""Processes that a script starts with multiprocessing: on virtual GPUs, too, by fork and by spawn."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MIB = 1 << 20

SCRIPT = """
import multiprocessing, sys, torch

def work(mib, answers):
    x = torch.ones(mib << 20, dtype=torch.uint8, device="cuda")
    answers.put((mib, torch.cuda.get_device_name(), torch.cuda.memory_allocated()))

def fails():
    raise ValueError("on purpose")

if __name__ == "__main__":
    start = multiprocessing.get_context(sys.argv[1])
    if "first" in sys.argv:
        own = torch.ones(1, device="cuda")
    answers = start.Queue()
    processes = [start.Process(target=work, args=(mib, answers)) for mib in (16, 64, 32)]
    for process in processes:
        process.start()
    told = sorted(answers.get(timeout=200) for _ in processes)
    for process in processes:
        process.join()
    failed = start.Process(target=fails)
    failed.start()
    failed.join()
    print("codes", [process.exitcode for process in processes], failed.exitcode, file=sys.stderr)
    print("told", told, file=sys.stderr)
"""


def run(folder: Path, *words: str) -> tuple[dict[str, Any], str]:
    (folder / "train.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "--json", "--gpu", "t4", "train.py", *words],
                          cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.stderr


def notes(facts: dict[str, Any], code: str) -> list[str]:
    return [one["message"] for one in facts["diagnostics"] if one["code"] == code]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_the_report_is_of_the_process_that_needs_most(tmp_path: Path, start: str) -> None:
    facts, told = run(tmp_path, start)
    assert "codes [0, 0, 0] 1" in told and "ValueError: on purpose" in told
    answers = [(mib, "Tesla T4", mib * MIB) for mib in (16, 32, 64)]
    assert f"told {answers}" in told
    assert facts["verdict"] == "fits" and facts["judgement"]["tensor_bytes"] == 64 * MIB
    (note,) = notes(facts, "child-process")
    assert note.startswith("the report is of a process that the script started: ") and note.endswith("Process-2")
    assert not notes(facts, "forked-after-cuda")


FORKED = """
import gc, multiprocessing, sys, weakref, torch

class Agent:
    def __init__(self):
        self.actor, self.itself = torch.nn.Sequential(torch.nn.Linear(64, 64)), self

def work(agent):
    agent.actor.cuda()(torch.ones(2, 64, device="cuda")).sum().backward()
    alive = weakref.ref(agent)
    agents.clear()
    del agent
    gc.collect()
    print("garbage", alive() is None, "compiler", "torch._dynamo" in sys.modules, file=sys.stderr)

agents = [Agent()]
child = multiprocessing.get_context("fork").Process(target=lambda: work(agents[0]))
child.start()
child.join()
"""


def test_a_forked_process_knows_names_and_garbage_as_its_parent(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FORKED)
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "--json", "train.py"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300, check=False)
    assert "garbage True compiler False" in done.stderr
    assert '"Agent.actor"' in done.stdout


def test_a_fork_after_cuda_is_told(tmp_path: Path) -> None:
    facts, told = run(tmp_path, "fork", "first")
    assert facts["judgement"]["tensor_bytes"] == 64 * MIB, told
    (note,) = notes(facts, "forked-after-cuda")
    assert "a real PyTorch refuses that" in note
