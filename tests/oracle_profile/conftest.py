"""Seeds torch before every test here: programs draw their weights."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(7)
