"""A forked child is none of the run: it writes nothing, waits for nobody, and its program goes on."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest
from forked_commands import run_command, run_script

import tidemark

START = """
import os, sys, threading
import torch
import tidemark
from torch import nn
from tidemark.compat import MemTracker
torch.set_num_threads(1)
layers = nn.Sequential(*[nn.Linear(8, 8) for _ in range(40)])
model = nn.Linear(8, 8)

def work():
    for _ in range(30):
        layers(torch.randn(8)).sum().backward()

def wait_for(child):
    status = os.waitpid(child, 0)[1]
    print("child", os.waitstatus_to_exitcode(status), flush=True)
"""


def written(tmp_path: Path, program: str) -> Path:
    script = tmp_path / "train.py"
    script.write_text(START + textwrap.dedent(program))
    return script


def run(tmp_path: Path, program: str) -> subprocess.CompletedProcess[str]:
    # Children that track and end at once leave folders in the temporary folder.
    return run_script(written(tmp_path, program), cwd=tmp_path, timeout=120, TMPDIR=str(tmp_path))


def modules_of(path: Path) -> set[str]:
    tape = tidemark.open(str(path))
    assert not list(tidemark.verify(tape))
    return {scope.path for scope in tape.scopes().scopes}


def test_workers_of_a_loader_that_run_modules_are_not_in_the_tape(tmp_path: Path) -> None:
    done = run(tmp_path, """
        from torch.utils.data import DataLoader, Dataset

        class Embedded(Dataset):
            def __len__(self):
                return 64
            def __getitem__(self, index):
                return layers(torch.randn(8)).detach()

        with tidemark.track(save="run.tape"):
            for batch in DataLoader(Embedded(), batch_size=4, num_workers=2):
                model(batch).sum().backward()
        """)
    assert done.returncode == 0, done.stderr
    assert modules_of(tmp_path / "run.tape") == {"model"}


ENDS = {
    "exits": ("sys.exit(3)", 3),
    "exits at once": ("os._exit(4)", 4),
    "raises": ("raise ValueError('of the child')", 1),
    "leaves the block": ("pass", 0),
}


SAVES = ("", "run.tape", "run.txt")


@pytest.mark.parametrize("end", ENDS)
def test_however_a_child_ends_the_parent_has_its_own_tape(tmp_path: Path, end: str) -> None:
    """A tape that is not kept, a file and a text, one after the other in one program."""
    how, code = ENDS[end]
    done = run(tmp_path, f"""
        for save in {SAVES}:
            tracking = tidemark.track(save=save)
            with tracking:
                model(torch.randn(4, 8)).sum().backward()
                child = os.fork()
                if child == 0:
                    work()
                    {how}
                else:
                    wait_for(child)
                    model(torch.randn(4, 8)).sum().backward()
            if child == 0:
                sys.exit(0)
            print(save, {{scope.path for scope in tracking.tape.scopes().scopes}}, flush=True)
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        line for save in SAVES for line in (f"child {code}", f"{save} {{'model'}}")]
    for save in filter(None, SAVES):
        assert modules_of(tmp_path / save) == {"model"}


def test_a_recorded_script_that_forks_is_reported_once(tmp_path: Path) -> None:
    script = written(tmp_path, """
        child = os.fork()
        if child == 0:
            work()
            sys.exit(3)
        wait_for(child)
        model(torch.randn(4, 8)).sum().backward()
        """)
    done = run_command("record", script, cwd=tmp_path, timeout=120, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("What the peak is made of") == 1
    assert "child 3" in done.stderr
    assert "layers" not in done.stdout


def test_a_child_does_not_wait_for_threads_that_it_does_not_have(tmp_path: Path) -> None:
    """While the parent forks, others of its threads are in the midst of writing and reading notes.
    They and the child take none of the locks that PyTorch itself leaves taken: no random numbers, no
    backwards."""
    done = run(tmp_path, """
        stop = False

        batch = torch.ones(64, 8)

        def train():
            while not stop:
                layers(batch).sum()
                tracking.current

        tracking = tidemark.track(layers)
        with tracking:
            threads = [threading.Thread(target=train) for _ in range(2)]
            for thread in threads:
                thread.start()
            for _ in range(40):
                child = os.fork()
                if child == 0:
                    model(torch.ones(8)).sum()
                    tracking.current
                    with tidemark.track(model) as own:
                        model(torch.ones(8)).sum()
                    os._exit(own.peak["cpu"]["Parameter"] // 4 - 72)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            stop = True
            for thread in threads:
                thread.join()
        print(len(tracking.tape.events) > 0)
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"


def test_a_tracker_of_the_parent_is_refused_in_a_child_and_a_new_one_works(tmp_path: Path) -> None:
    done = run(tmp_path, """
        tracking = tidemark.track(model)
        with tracking:
            model(torch.randn(8)).sum()
        child = os.fork()
        if child == 0:
            try:
                tracking.__enter__()
            except RuntimeError as error:
                print(error, flush=True)
            with tidemark.track(layers, save="child.tape") as own:
                work()
            with MemTracker() as tracker:
                layers(torch.randn(8)).sum().backward()
            print(tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Parameter"], flush=True)
            os._exit(0)
        wait_for(child)
        with tracking:
            model(torch.randn(8)).sum()
        print(not list(tidemark.verify(tracking.tape)))
        """)
    assert done.returncode == 0, done.stderr
    refused, parameters, child, sound = done.stdout.splitlines()
    assert "belongs to the parent process" in refused
    assert int(parameters) == 40 * (8 * 8 + 8) * 4
    assert (child, sound) == ("child 0", "True")
    assert "layers" in modules_of(tmp_path / "child.tape")


def test_a_child_of_a_dropin_has_the_counts_of_the_fork_and_no_more(tmp_path: Path) -> None:
    done = run(tmp_path, """
        with MemTracker() as tracker:
            kept = torch.ones(1000)
            child = os.fork()
            if child == 0:
                more = torch.ones(1000)
                more.untyped_storage().resize_(8000)
                work()
                os._exit(0)
            wait_for(child)
            total = tracker.get_tracker_snapshot()[torch.device("cpu")]["Total"]
        print(total)
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["child 0", "4000"]
