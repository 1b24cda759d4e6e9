"""A torch that the package was not compiled for is refused in one sentence, before any C++ runs."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from alike_programs import ends_of

from tidemark import _built_for
from tidemark.torch_match import WrongTorch, check_torch

# A package that was compiled for a torch of long ago, as its user meets it.
OLD = """
import sys, tidemark._built_for
tidemark._built_for.TORCH = "2.3.1+cu121"
"""
COMMAND = OLD + """
from tidemark.__main__ import run
sys.argv = ["tidemark", {verb!r}, {script!r}]
sys.exit(run())
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)


def test_the_torch_it_was_built_for_is_welcome() -> None:
    assert _built_for.TORCH.split(".")[:2] == torch.__version__.split(".")[:2]
    check_torch()


def test_another_patch_of_the_series_is_welcome(monkeypatch: pytest.MonkeyPatch) -> None:
    series = ".".join(torch.__version__.split(".")[:2])
    monkeypatch.setattr(_built_for, "TORCH", f"{series}.99+rocm")
    check_torch()


def test_another_series_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_built_for, "TORCH", "2.3.1+cu121")
    with pytest.raises(WrongTorch, match=r"built for torch 2\.3, and torch .*`make wheel`"):
        check_torch()


@pytest.mark.parametrize("verb", ["estimate", "record"])
def test_the_command_says_it_in_one_line(verb: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('never')\n")
    done = run(COMMAND.format(verb=verb, script=str(script)))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tidemark: this tidemark was built for torch 2.3, and torch ")
    assert len(done.stderr.splitlines()) == 1


ENTRANCES = [
    "tidemark.track()",
    "from tidemark.compat import MemTracker",
    "from tidemark.compat import memory_estimator",
    "tidemark.graphs.read_fx(torch.fx.symbolic_trace(torch.nn.ReLU()))",
]


@pytest.fixture(scope="module")
def ends() -> dict[str, tuple[int, str]]:
    return dict(zip(ENTRANCES, ends_of(OLD + "import torch, torch.fx, tidemark\n", ENTRANCES), strict=True))


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_no_other_entrance_loads_it_either(entrance: str, ends: dict[str, tuple[int, str]]) -> None:
    code, errors = ends[entrance]
    assert code == 1
    assert errors.splitlines()[-1].startswith("tidemark.torch_match.WrongTorch: this tidemark")
