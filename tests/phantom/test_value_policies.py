"""What an unknown value is taken to be: plausible, zero, bound, error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch


def unknown(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*sizes, dtype=dtype, device="cuda")


@pytest.mark.parametrize(
    ("policy", "scalar", "whole", "chosen", "different"),
    [("plausible", 1.0, 1, 12, 12), ("zero", 0.0, 0, 0, 1), ("bound", 1.0, 1, 12, 12)],
)
def test_policies_answer(
    open_session: Callable[..., Any], policy: str, scalar: float, whole: int, chosen: int,
    different: int,
) -> None:
    open_session(on_value=policy)
    assert unknown(1).item() == scalar
    assert unknown(1, dtype=torch.long).item() == whole
    assert unknown(1, dtype=torch.bool).item() is False
    assert unknown(1, dtype=torch.complex64).item() == complex(scalar)
    mask = unknown(3, 4) > 0
    assert mask.nonzero().shape == (chosen, 2)
    assert unknown(3, 4)[mask].shape == (chosen,)
    assert torch.masked_select(unknown(3, 4), mask).shape == (chosen,)
    values, inverse, counts = unknown(3, 4).unique(return_inverse=True, return_counts=True)
    assert (values.shape, inverse.shape, counts.shape) == ((different,), (3, 4), (different,))
    assert unknown(3, 4).unique(dim=1).shape == (3, min(different, 4))


def test_zero_takes_every_index_as_the_first(open_session: Callable[..., Any]) -> None:
    open_session(on_value="zero")
    assert set(unknown(5, 8).topk(2).indices.flatten().tolist()) == {0}


def test_error_names_the_operator_and_the_line(open_session: Callable[..., Any]) -> None:
    open_session(on_value="error")
    assert torch.arange(3, device="cuda").sum().item() == 3
    with pytest.raises(RuntimeError, match=r"test_value_policies\.py:\d+") as failure:
        unknown(1).item()
    assert "_local_scalar_dense" in str(failure.value)
    with pytest.raises(RuntimeError, match="nonzero"):
        unknown(3).nonzero()


def test_assumptions_are_noted(open_session: Callable[..., Any]) -> None:
    library = open_session()
    unknown(3).nonzero()
    unknown(1).item()
    notes = {note["code"]: note for note in library.diagnostics()}
    assert {"assumed-mask", "assumed-value"} <= set(notes)
    assert "test_value_policies.py" in notes["assumed-mask"]["where"]


def test_plausible_values_are_the_same_in_every_run(open_session: Callable[..., Any]) -> None:
    from tidemark.virtual_cuda import close_gpus

    drawn = []
    for _ in range(2):
        open_session()
        drawn.append([
            torch.randint(0, 99, (5,), device="cuda").tolist(),
            unknown(7, 5).topk(2).indices.tolist(),
        ])
        close_gpus()
    assert drawn[0] == drawn[1]
