"""Commands that tests run in forks of one process: what they are asked for, and who outlives whom."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked_commands
import pytest
from forked_commands import SERVER, modules_for, run_command, run_forked

TRAIN = """
import os, sys, torch
model = torch.nn.Linear(64, 32).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    model(torch.ones(8, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
open("written.txt", "w").write("held")
print(sys.argv[1:], os.getcwd(), sys.path[0], __name__, os.environ["LD_PRELOAD"], sys.stdin.read())
"""


def forked(folder: Path, text: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(text)
    done = run_forked(["estimate", "--json", "train.py", "a", "b"], folder, timeout, dict(os.environ))
    assert done is not None
    return done


def without_times(value: Any) -> Any:
    """The report but for clocks, and for how long garbage lived after the last step."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items()
                if not key.endswith(("_ns", "seconds")) and key not in ("events", "timeline")}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def test_a_fork_says_what_a_fresh_process_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of numbers, of the script's own words, and of the file that is held back: a fork of the process that
    has torch._dynamo, and of the one that has not."""
    assert modules_for("record", TRAIN) == modules_for("estimate", "checkpoint(f)") == ["torch._dynamo"]
    assert modules_for("estimate", TRAIN) == modules_for("record", "import torch\n") == []
    done = forked(tmp_path, TRAIN)
    monkeypatch.setattr(forked_commands, "modules_for", lambda verb, script: ["torch._dynamo"])
    with_compiler = forked(tmp_path, TRAIN)
    real = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "--json", "train.py", "a", "b"],
                          cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == with_compiler.returncode == real.returncode == 0
    assert "written.txt" in done.stdout and not (tmp_path / "written.txt").exists()
    for fork in (done, with_compiler):
        assert fork.stderr == real.stderr
        assert without_times(json.loads(fork.stdout)) == without_times(json.loads(real.stdout))


def test_a_fork_that_dies_or_takes_too_long_ends_alone(tmp_path: Path) -> None:
    killed = forked(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(subprocess.TimeoutExpired):
        forked(tmp_path, "import time\nprint('begun', flush=True)\ntime.sleep(60)\n", timeout=2)
    failed = forked(tmp_path, "raise KeyError('oops')\n")
    assert failed.returncode == 2 and "KeyError: 'oops'" in failed.stderr


def test_a_variable_that_torch_may_read_as_it_is_imported_needs_a_real_command(tmp_path: Path) -> None:
    assert run_forked(["estimate", "none.py"], tmp_path, 60, os.environ | {"OMP_NUM_THREADS": "1"}) is None
    assert run_forked(["estimate", "none.py"], tmp_path, 60, os.environ | {"CUBLAS_WORKSPACE_CONFIG": ":16:8"})


def test_the_first_run_of_a_folder_is_a_real_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked_commands, "_begun", set())
    monkeypatch.setattr(forked_commands, "run_forked", lambda *_: "forked")
    assert "no such script" in run_command("estimate", "none.py").stderr
    assert run_command("estimate", "none.py") == "forked"
    assert "no such script" in run_command("record", "none.py").stderr


def test_a_server_ends_with_whoever_started_it() -> None:
    """Its standard error is a pipe of ours: the run is over when the server has closed it, too."""
    program = ("import os, sys\nsys.path.insert(0, sys.argv[1])\nfrom forked_commands import Server\n"
               "Server('record', '')\nprint('started', flush=True)\nos._exit(0)\n")
    done = subprocess.run([sys.executable, "-c", program, str(SERVER.parent)], capture_output=True,
                          text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("started\n", "")
