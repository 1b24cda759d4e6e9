"""`tidemark.profile` of a training step on a virtual GPU: bytes by hand."""

from typing import Any

import pytest
import torch

import tidemark

MIB = 1 << 20


def test_a_profiled_step_on_a_virtual_gpu(gpus: Any) -> None:
    model = torch.nn.Linear(1024, 1024, bias=False, device="cuda")
    optimizer = torch.optim.Adam(model.parameters())
    with tidemark.profile() as profiling:
        model(torch.rand(8, 1024, device="cuda")).sum().backward()
        optimizer.step()
    peak = next(d for d in profiling.tape.peak().devices if d.device == "cuda:0")
    # The weight, its gradient and two moments; what the step divides by, and what CUDA's libraries
    # take, nobody can name.
    by_category = {category.name: size for category, size in peak.categories.items()}
    assert by_category["Parameter"] == by_category["Gradient"] == 4 * MIB
    assert by_category["OptimizerState"] // MIB == 8
    assert by_category["Unknown"] >= 4 * MIB
    assert sum(by_category.values()) == peak.allocated_bytes
    assert "meta" not in profiling.tape.devices
    assert "cuda:0" in profiling.report()


def test_a_profile_is_entered_once_and_read_afterwards(gpus: Any) -> None:
    profiling = tidemark.profile()
    with profiling:
        with pytest.raises(RuntimeError, match="leave its block"):
            profiling.tape
        with pytest.raises(RuntimeError, match="leave its block"):
            profiling.memory_profile
        torch.ones(5, device="cuda")
    assert len(profiling.tape) > 0
    with pytest.raises(RuntimeError, match="make a new one"):
        profiling.__enter__()
