"""What a real GPU's allocator said, against the tracker on fake tensors, which need no memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint

from tidemark.compat.mem_tracker import MemTracker

FACTS = json.loads((Path(__file__).parent / "golden" / "gpu_facts.json").read_text())


class Blocks(nn.Module):
    def __init__(self, width: int, **where: Any) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width, **where), nn.ReLU(),
                          nn.Linear(2 * width, width, **where))
            for _ in range(4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False) if number else block(x)
        return x


def build(name: str) -> tuple[nn.Module, torch.Tensor | None]:
    if name == "stack_of_linears":
        where: dict[str, Any] = {"dtype": torch.bfloat16}
        layers = [layer for _ in range(4) for layer in (nn.Linear(512, 512, **where), nn.ReLU())]
        return nn.Sequential(*layers), torch.randn(16, 512, **where)
    return Blocks(1024, dtype=torch.float16), None


@pytest.mark.parametrize("name", ["stack_of_linears", "checkpointed_blocks"])
def test_the_peak_is_that_of_a_real_allocator(name: str) -> None:
    assert FACTS[name]["tracked_bytes"] == pytest.approx(FACTS[name]["active_bytes"], rel=0.01)
    with FakeTensorMode():
        model, x = build(name)
        optimizer = torch.optim.Adam(model.parameters(), foreach=True)
        tracker = MemTracker()
        tracker.track_external(model, optimizer, x)
        with tracker:
            for _ in range(2):
                batch = x if x is not None else torch.randn(
                    128, 1024, 1024, dtype=torch.float16)
                model(batch).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        peak = tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Total"]
    # A library keeps 1 MiB, which is left when the program has nothing but parameters and state.
    # CPUs have no such thing.
    expected = FACTS[name]["active_bytes"] - FACTS[name]["library_bytes"]
    assert peak == pytest.approx(expected, rel=0.01)


def test_pinned_memory_is_a_device_of_its_own() -> None:
    """3 MiB that were pinned and 3 that a copy has pinned; before these 3 MiB of plain memory to pin from."""
    mib = 1 << 20
    assert FACTS["pinned"] == {"cpu": 3 * mib, "cpu:pinned": 6 * mib}
