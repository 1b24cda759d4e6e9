"""Finds the built command and runs it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def find_binary():
    beside = ROOT / ".venv" / "bin" / "tidemark"
    named = os.environ.get("TIDEMARK_BIN") or shutil.which("tidemark")
    return named or (str(beside) if beside.exists() else None)


@pytest.fixture(scope="session")
def binary():
    path = find_binary()
    if path is None:
        pytest.fail("no tidemark command: build it, or name it in TIDEMARK_BIN")
    return path


@pytest.fixture
def tidemark(binary):
    """tidemark("peak", path) runs the command in pipes and gives its exit code and texts."""

    def run(*words, **kwargs):
        return subprocess.run([binary, *map(os.fspath, words)], capture_output=True,
                              encoding="utf-8", timeout=60, **kwargs)

    return run


@pytest.fixture
def write(tmp_path):
    """Writes a file of text or bytes and gives its path."""

    def write_file(content, name="run.tape.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
