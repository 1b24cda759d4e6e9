"""Makes torch repeatable, and collections of garbage quick."""

from __future__ import annotations

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def quick_garbage() -> None:
    from garbage import freeze_modules

    freeze_modules()
