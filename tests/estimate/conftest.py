"""The command `tidemark estimate` as a fixture, without cuBLAS's workspaces unless a test wants them.

They are 65 MiB at most, as much as everything else of a small script: the bytes that tests work out
by hand are those of tensors.
"""

from collections.abc import Callable

import pytest
from estimating import Estimate, ask_estimate


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
