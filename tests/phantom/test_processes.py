"""Threads, forks, fresh processes, and runs that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch


def train(device: str, steps: int, width: int) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Linear(width, 1)).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        model(torch.ones(8, width, device=device)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


@pytest.mark.usefixtures("no_library_workspaces")
def test_two_threads_train_two_models(open_session: Callable[..., Any]) -> None:
    open_session(2)
    train("cuda:0", 5, 64)
    alone = torch.cuda.max_memory_allocated(0)
    assert torch.cuda.memory_allocated(0) == 0
    failures: list[BaseException] = []

    def work(device: str) -> None:
        try:
            torch.cuda.set_device(device)
            train(device, 40, 64)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(f"cuda:{i}",)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert torch.cuda.current_device() == 0  # each thread has its own
    assert torch.cuda.max_memory_allocated(1) == alone
    assert torch.cuda.memory_allocated(0) == torch.cuda.memory_allocated(1) == 0


def test_a_backward_over_two_devices_runs_on_the_threads_of_both(
    open_session: Callable[..., Any],
) -> None:
    torch.ones(1, requires_grad=True).sum().backward()  # autograd has started, without GPUs
    open_session(2)
    first, second = torch.nn.Linear(8, 8).to("cuda:0"), torch.nn.Linear(8, 8).to("cuda:1")
    second(first(torch.ones(2, 8, device="cuda:0")).to("cuda:1")).sum().backward()
    assert first.weight.grad is not None and first.weight.grad.device.index == 0
    assert second.weight.grad is not None and second.weight.grad.device.index == 1


class Squares(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor([index * index])


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_data_loader_workers(open_session: Callable[..., Any], start: str) -> None:
    open_session()
    kept = torch.ones(1000, device="cuda")
    loader = torch.utils.data.DataLoader(
        Squares(), batch_size=4, num_workers=2, pin_memory=True, multiprocessing_context=start
    )
    batches = [batch.cuda(non_blocking=True) for batch in loader]
    assert torch.cat(batches).flatten().tolist() == [i * i for i in range(12)]
    assert torch.cuda.memory_allocated() == 4096 + 3 * 512 and kept.is_cuda


def test_a_forked_child_leaves_the_parents_tape_alone(
    open_session: Callable[..., Any], tmp_path: Path
) -> None:
    import tidemark
    from tidemark.virtual_cuda import close_gpus

    library = open_session(save=str(tmp_path / "run.tape"))
    kept = torch.ones(1000, device="cuda")
    child = os.fork()
    if child == 0:
        made = [torch.ones(500, device="cuda") for _ in range(100)]
        del made, kept
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    del kept
    close_gpus()
    library.finish()
    tape = tidemark.open(tmp_path / "run.tape")
    assert tape.peak().devices[0].requested_bytes == 4000
    assert [str(note) for note in tape.diagnostics] == [] if hasattr(tape, "diagnostics") else True


def test_loading_after_torch_says_what_to_do(fresh_process: Callable[..., Any]) -> None:
    ran = fresh_process("import torch\nfrom tidemark.virtual_cuda import load\nload()")
    assert ran.returncode == 1
    assert "TooLate: torch is already imported in this process" in ran.stderr
    assert "tidemark estimate" in ran.stderr


KILLED = """
import sys, time
from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import load, open_gpus
load()
import torch
open_gpus(CATALOGUE["h100"], save=sys.argv[1])
weight = torch.ones(1000, 1000, device="cuda")
while True:
    weight = (weight @ weight).relu()
    print(flush=True)
    time.sleep(0.01)
"""


@pytest.mark.usefixtures("no_library_workspaces")
def test_a_killed_run_leaves_a_readable_tape(tmp_path: Path) -> None:
    import tidemark

    path = tmp_path / "killed.tape"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        program.stdout.readline()
        time.sleep(2.5)
        program.send_signal(signal.SIGKILL)
    assert program.returncode == -signal.SIGKILL
    tape = tidemark.open(path)
    # A 1000 x 1000 float matrix has 4 000 000 bytes; while relu runs three are alive.
    assert tape.peak().devices[0].requested_bytes == 12_000_000
    assert len(tape.events) > 20
