"""Virtual GPUs for tests: loaded here, before anything imports torch; opened and closed by fixtures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import close_gpus, library, load, open_gpus

load()


@pytest.fixture
def open_session() -> Iterator[Callable[..., Any]]:
    """Opens virtual GPUs with these options; they are closed after the test, if it left them on."""

    def open_with(count: int = 1, gpu: str = "h100", **options: Any) -> Any:
        open_gpus(CATALOGUE[gpu], count, **options)
        return library()

    yield open_with
    close_gpus()


@pytest.fixture
def no_library_workspaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """cuBLAS keeps nothing: for tests that count the bytes of tensors."""
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0")
    monkeypatch.setenv("CUBLASLT_WORKSPACE_SIZE", "0")


@pytest.fixture
def gpus(open_session: Callable[..., Any]) -> Any:
    """Two virtual GPUs with everything at its default."""
    return open_session(2)


@pytest.fixture
def fresh_process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a Python of its own and returns what it wrote."""

    def run(program: str, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True, text=True, timeout=timeout, check=False,
        )

    return run
