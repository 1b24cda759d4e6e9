"""The command `tidemark estimate` as a fixture, without cuBLAS's workspaces unless a test wants them.

They are 65 MiB at most, as much as everything else of a small script: the bytes that tests work out
by hand are those of tensors.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from estimating import Estimate, ask_estimate  # noqa: E402


@pytest.fixture(scope="session")
def estimate() -> Callable[..., Estimate]:
    return ask_estimate


@pytest.fixture(autouse=True)
def no_library_workspaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0")
    monkeypatch.setenv("CUBLASLT_WORKSPACE_SIZE", "0")


@pytest.fixture
def library_workspaces(
        no_library_workspaces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    monkeypatch.delenv("CUBLASLT_WORKSPACE_SIZE")
