"""Makes the trackers' programs importable, torch repeatable, and four ranks of which only the first exists;
collections of garbage are quick."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

sys.path.insert(1, str(Path(__file__).parents[1] / "oracle_tracker"))
torch.set_num_threads(1)


@pytest.fixture(scope="module", autouse=True)
def ranks() -> Iterator[None]:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
    yield
    torch.distributed.destroy_process_group()


@pytest.fixture(autouse=True)
def quick_garbage(ranks: None) -> None:
    from garbage import freeze_modules

    freeze_modules()
