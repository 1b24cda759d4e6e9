"""The wheel as its users meet it: installed from its file into an environment of its own."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# What the surrounding program points Python to must not help.
ALONE = {name: value for name, value in os.environ.items()
         if name not in ("PYTHONPATH", "TIDEMARK_PYTHON", "VIRTUAL_ENV")}


def run(*words: object, folder: Path) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300,
                          env=ALONE, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel() -> Path:
    folder = Path(os.environ.get("TIDEMARK_WHEELS", ROOT / "build" / "wheel"))
    files = list(folder.glob("tidemark-*.whl"))
    assert len(files) == 1, f"one wheel is expected in {folder}: make wheel"
    return files[0]


@pytest.fixture
def clean_bin(wheel: Path, tmp_path: Path) -> Path:
    """The programs of a new environment that holds the wheel and nothing else, not even pip."""
    home = tmp_path / "clean"
    run(sys.executable, "-m", "venv", "--without-pip", home, folder=tmp_path)
    run(sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "--no-index",
        "--no-deps", "--disable-pip-version-check", wheel, folder=tmp_path)
    return home / "bin"


def test_the_file_s_name_says_for_which_torch_it_is(wheel: Path) -> None:
    major, minor = version("torch").split(".")[:2]
    assert f"-0torch{major}.{minor}-" in wheel.name


def test_tapes_are_read_without_torch(clean_bin: Path, tmp_path: Path) -> None:
    tape = EXAMPLES / "transformer.tape.txt"
    program = ("import sys, tidemark; print(tidemark.__file__)\n"
               f"print(tidemark.open({str(tape)!r}).peak().devices[0].device)\n"
               "from importlib.util import find_spec; print(find_spec('torch'))\n")
    where, device, torch = run(clean_bin / "python", "-c", program, folder=tmp_path).splitlines()
    assert Path(where).is_relative_to(clean_bin.parent)
    assert (device, torch) == ("cuda:0", "None")
    assert "cuda:0" in run(clean_bin / "tidemark", "peak", tape, folder=tmp_path)


def test_a_script_is_estimated_with_a_torch_from_elsewhere(clean_bin: Path, tmp_path: Path) -> None:
    torch = find_spec("torch")
    assert torch is not None and torch.submodule_search_locations
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(clean_bin / "python", "-c", purelib, folder=tmp_path).strip())
    # Behind the environment's own packages, so that tidemark is the wheel's.
    (site / "elsewhere.pth").write_text(f"{Path(torch.submodule_search_locations[0]).parent}\n")
    report = run(clean_bin / "tidemark", "estimate", "--json", EXAMPLES / "train_convnet.py",
                 folder=tmp_path)
    assert json.loads(report)["fits"] is True
