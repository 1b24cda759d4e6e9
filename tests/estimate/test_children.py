"""Programs of several processes: launchers run one rank in place of all, children have GPUs too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from forked_commands import run_command

MIB = 1 << 20

# 64 MiB of weights, as one rank of several; what it is told goes to standard error.
DDP = """
import os, sys, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

def train(rank, world_size, *named):
    dist.init_process_group("nccl", rank=rank, world_size=world_size, **dict(named))
    device = torch.device("cuda", rank % torch.cuda.device_count())
    model = DistributedDataParallel(torch.nn.Linear(4096, 4096, bias=False).to(device))
    optimizer = torch.optim.SGD(model.parameters())
    for step in range(2):
        model(torch.ones(2, 4096, device=device)).sum().backward()
        optimizer.step()
    print("trained as", dist.get_rank(), "of", dist.get_world_size(), "with",
          torch.cuda.device_count(), "GPUs", file=sys.stderr)
    dist.destroy_process_group()
"""
BY_SPAWN = DDP + """
if __name__ == "__main__":
    import torch.multiprocessing as mp
    mp.spawn(train, args=(4,), nprocs=4)
    os.environ.get("RANK") is None or sys.exit("the parent is a rank")
    waiting = mp.start_processes(train, args=(4,), nprocs=4, join=False, start_method="fork")
    while not waiting.join():
        pass
"""
BY_VARIABLES = DDP + """
names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR MASTER_PORT".split()
print("told", *(os.environ[name] for name in names), *sys.argv[1:], file=sys.stderr)
train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
"""
BY_NOTEBOOK = DDP + """
from accelerate import notebook_launcher
def program():
    train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
notebook_launcher(program, num_processes=2)
"""
ACCELERATED = """
import sys, torch
from accelerate import Accelerator
accelerator = Accelerator()
model = torch.nn.Linear(4096, 4096, bias=False)
optimizer = torch.optim.SGD(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(2):
    loss = model(torch.ones(2, 4096, device=accelerator.device)).sum()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
print("accelerated", accelerator.process_index, "of", accelerator.num_processes, file=sys.stderr)
"""


def run(folder: Path, *words: str, **files: str) -> tuple[dict[str, Any], str, int]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    done = run_command("estimate", "--json", *words, cwd=folder, timeout=240)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.stderr, done.returncode


def one_rank(facts: dict[str, Any]) -> list[str]:
    return [one["message"] for one in facts["diagnostics"] if one["code"] == "one-rank"]


def is_trained(facts: dict[str, Any], rank: int, size: int) -> bool:
    """Weights and gradients, at least."""
    place = (facts["run"]["rank"], facts["run"]["world_size"])
    return (place == (rank, size) and facts["verdict"] == "fits"
            and facts["judgement"]["tensor_bytes"] >= 128 * MIB)


def test_spawned_processes_are_one_rank_in_place_of_all(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "train.py", train=BY_SPAWN)
    assert code == 0, told
    assert told.count("trained as 0 of 4 with 1 GPUs") == 2
    assert is_trained(facts, 0, 4)
    assert one_rank(facts) == ["rank 0 of 4 was run in place of all"]


def test_another_rank_can_be_asked_for(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "--rank", "3", "--gpus", "4", "train.py", train=BY_SPAWN)
    assert code == 0, told
    assert "trained as 3 of 4 with 4 GPUs" in told and is_trained(facts, 3, 4)
    assert facts["judgement"]["device"] == "cuda:3"


@pytest.mark.parametrize("launcher", [["torchrun"], ["-m", "torch.distributed.run"]])
def test_torchrun_is_given_in_place_of_the_script(tmp_path: Path, launcher: list[str]) -> None:
    facts, told, code = run(tmp_path, *launcher, "--nproc-per-node=2", "--nnodes", "2", "--node-rank", "0",
                            "--master-addr", "localhost", "train.py", "--lr", "3", train=BY_VARIABLES)
    assert code == 0, told
    assert "told 0 4 0 2 0 127.0.0.1 29500 --lr 3" in told
    assert "trained as 0 of 4 with 2 GPUs" in told and is_trained(facts, 0, 4)
    assert one_rank(facts) == ["rank 0 of 4 was run in place of all"]


def test_accelerate_launch_is_given_in_place_of_the_script(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "accelerate", "launch", "--multi_gpu", "--num_processes", "2",
                            "train.py", train=ACCELERATED)
    assert code == 0, told
    assert "accelerated 0 of 2" in told and is_trained(facts, 0, 2)


def test_a_notebook_launcher_runs_one_rank(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "--gpus", "2", "train.py", train=BY_NOTEBOOK)
    assert code == 0, told
    assert "trained as 0 of 2 with 2 GPUs" in told and is_trained(facts, 0, 2)


def test_one_rank_has_the_variables_too_where_it_is_asked_for(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "--world-size", "1", "train.py", train=BY_VARIABLES)
    assert code == 0, told
    assert "told 0 1 0 1 0 127.0.0.1 29500" in told and is_trained(facts, 0, 1)
    facts, told, code = run(tmp_path, "train.py")
    assert code == 2 and facts["verdict"] == "cannot tell"
    assert "KeyError: 'RANK'" in told and "hint: torchrun sets it: --world-size N" in told


def test_the_ranks_of_a_node_have_a_gpu_each(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "--world-size", "16", "--rank", "9", "train.py", train=BY_VARIABLES)
    assert code == 0, told
    assert "told 9 16 1 8 1 127.0.0.1 29500" in told
    assert "trained as 9 of 16 with 8 GPUs" in told and is_trained(facts, 9, 16)


STARTS_OTHERS = """
import subprocess, sys
for size in (16, 64, 32):
    subprocess.run([sys.executable, "-u", "child.py", str(size)], check=True)
said = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout
assert said == "42\\n", said
code = subprocess.run([sys.executable, "child.py"], capture_output=True, text=True)
assert code.returncode == 1 and "IndexError" in code.stderr, code
"""
CHILD = """
import sys, torch
x = torch.ones(int(sys.argv[1]) << 20, dtype=torch.uint8, device="cuda")
print("said by the child")
"""


def test_the_report_is_of_the_child_that_needs_most(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "--save", "run.tape", "train.py", train=STARTS_OTHERS, child=CHILD)
    assert code == 0, told
    assert facts["judgement"]["tensor_bytes"] == 64 * MIB
    assert any("process that the script started: child.py" in one["message"]
               for one in facts["diagnostics"])
    assert told.count("said by the child") == 3
    import tidemark

    assert tidemark.open(tmp_path / "run.tape").verdict().tensor_bytes == 64 * MIB


FORKS = """
import os, torch
x = torch.ones(64 << 20, dtype=torch.uint8, device="cuda")
children = []
for how in ("to the end", "with an error"):
    children.append(os.fork())
    if children[-1] == 0:
        if how == "with an error":
            raise RuntimeError("of the second child")
        break
else:
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print("children ended with", codes)
"""


def test_a_child_of_a_plain_fork_ends_as_python_ends_it_and_reports_nothing(tmp_path: Path) -> None:
    facts, told, code = run(tmp_path, "train.py", train=FORKS)
    assert code == 0, told
    assert facts["judgement"]["tensor_bytes"] == 64 * MIB
    assert "children ended with [0, 1]" in told
    assert told.count("RuntimeError: of the second child") == 1
