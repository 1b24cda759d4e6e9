"""What bench/tracker_on_gpu.py found on a real GPU, kept here for machines without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "gpu_facts.json").read_text())


@pytest.mark.parametrize("program", ["mlp", "checkpointed"])
def test_the_tracked_peak_is_the_allocators(program: str) -> None:
    """PyTorch's own tests of its tracker ask for a tenth; ours for a hundredth."""
    found = FACTS["peaks"][program]
    assert found["active_bytes"] > 10_000_000
    assert abs(found["tracked_bytes"] / found["active_bytes"] - 1) <= 0.01


def test_the_facts_say_where_they_come_from() -> None:
    assert FACTS["gpu"] and FACTS["driver"] and FACTS["torch"]
    assert set(FACTS["cost"]) == {"gpt2", "llama", "resnet50"}
