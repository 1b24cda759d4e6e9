"""PyTorch's estimator and ours, side by side, with the CPU counted."""

import pytest
import torch
from torch._inductor.fx_passes import memory_estimator as theirs

from tidemark.compat import memory_estimator as ours


@pytest.fixture(autouse=True)
def counting_every_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both estimators skip the CPU, where the models of these tests are."""
    for module in (theirs, ours):
        monkeypatch.setattr(module, "device_filter", counts)


def counts(device: torch.device) -> bool:
    return True
