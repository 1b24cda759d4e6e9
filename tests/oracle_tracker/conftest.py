"""Makes the programs importable, torch repeatable, and collections of garbage quick."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def quick_garbage() -> None:
    from garbage import freeze_modules

    freeze_modules()
