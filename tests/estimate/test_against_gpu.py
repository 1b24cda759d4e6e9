"""Examples beside the peak of a real GPU's allocator: an NVIDIA H200, driver 580.159.04, torch 2.11.0.

The numbers are those of `python bench/against_gpu.py` there.
"""

from __future__ import annotations

import pytest
from estimating import EXAMPLES, ask_estimate

# The real peak, and the share of it that the estimate may differ by.
REAL = {
    "train_accumulation": (88_259_584, 0.0),
    "train_convnet": (162_295_808, 0.0),
    "train_dataloader": (89_361_408, 0.0),
    "train_lora": (127_613_952, 0.0),
    "train_with_checks": (110_525_952, 0.0),
    "train_mixture_of_experts": (155_794_432, 0.0001),
    "train_packed_lstm": (134_193_152, 0.01),
    "train_encoder_decoder": (197_343_232, 0.0001),
    "train_checkpointing": (137_284_096, 0.0001),
    # Of maps of 3 × 3 positions no convolution was asked: the gradient of 512 × 2048 weights is told 7 MiB too much.
    "train_resnet": (258_459_648, 0.026),
    "train_amp": (183_560_704, 0.0001),
}


@pytest.mark.usefixtures("library_workspaces")
@pytest.mark.parametrize(("name", "real", "share"), [(n, *row) for n, row in REAL.items()])
def test_an_example_peaks_where_a_real_gpu_does(name: str, real: int, share: float) -> None:
    facts = ask_estimate("--gpu", "h200", EXAMPLES / f"{name}.py").facts
    assert abs(facts["judgement"]["max_allocated_bytes"] - real) <= share * real
