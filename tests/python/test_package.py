"""The package as it is installed: free of torch, and with its program."""

import doctest
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires, version

import pytest

import tidemark
from tidemark import __main__ as program


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_importing_tidemark_loads_no_torch():
    result = python(
        "-c",
        "import sys, tidemark; tidemark.read_text('tape 1').columns.bytes\n"
        "assert 'torch' not in sys.modules\n"
        "assert 'libtorch' not in open('/proc/self/maps').read()\n",
    )
    assert result.returncode == 0, result.stderr


def test_torch_and_tidemark_live_in_one_process():
    pytest.importorskip("torch")
    result = python("-c", "import tidemark, torch; print(tidemark.Phase(0), torch.ones(2).sum())")
    assert result.stdout.startswith("other tensor(2."), result.stderr


def test_the_example_in_the_package_is_true():
    assert doctest.testmod(tidemark) == (0, 3)


def test_the_installed_version_is_that_of_the_engine():
    try:
        installed = version("tidemark")
    except PackageNotFoundError:
        pytest.skip("tidemark is imported from a build folder")
    assert installed == tidemark.__version__
    assert not any(line.startswith("torch") for line in requires("tidemark") or [])


def test_the_module_runs_the_program_of_the_environment():
    if program.find_program() is None:
        pytest.skip("the tidemark program is not installed")
    result = python("-m", "tidemark", "--version")
    assert result.returncode == 0 and tidemark.__version__ in result.stdout


def test_the_program_s_exit_code_comes_through():
    if program.find_program() is None:
        pytest.skip("the tidemark program is not installed")
    assert python("-m", "tidemark", "report", "no-such-file.tape").returncode == 2


def test_a_missing_program_is_said_clearly(monkeypatch, capsys):
    monkeypatch.setattr(program, "find_program", lambda: None)
    assert program.main() == 2
    assert "pip install --no-build-isolation ." in capsys.readouterr().err
