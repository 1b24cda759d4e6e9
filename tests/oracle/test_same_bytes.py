"""PyTorch's MemTracker under FakeTensorMode on `cuda` gives the peak that we give, to the byte.

Both run the whole script, two optimizer steps. On our side the kernels that CUDA would choose
(attention, cuDNN) are switched off, since a CPU build, where fake tensors run, takes others.

Left out are examples that FakeTensorMode cannot run: shapes hang on values
(train_mixture_of_experts, train_packed_lstm), or the reducer's hook gets no tensor (train_ddp).
"""

from __future__ import annotations

import pytest
from peaks import our_peak, pytorch_peaks

TWO_STEPS = ("--steps", "2")

SAME = {
    "plain loop": ("train_gpt.py", "--layers", "2", "--batch", "2", "--length", "64"),
    "autocast and GradScaler": ("train_amp.py",),
    "gradient accumulation": ("train_accumulation.py",),
    "checkpointing": ("train_checkpointing.py",),
    "reentrant checkpointing": ("train_checkpointing.py", "--reentrant"),
    "batch norm, channels last": ("train_convnet.py",),
    "ResNet": ("train_resnet.py",),
    "encoder-decoder": ("train_encoder_decoder.py", "--layers", "1"),
    "DataLoader, pinned": ("train_dataloader.py", "--workers", "0"),
    "checks of values": ("train_with_checks.py",),
}


FROZEN_BASE = ("train_lora.py", *TWO_STEPS)


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, ...], int]:
    """What PyTorch's tracker says of each program."""
    programs = [*((*program, *TWO_STEPS) for program in SAME.values()), FROZEN_BASE]
    return dict(zip(programs, pytorch_peaks(programs), strict=True))


@pytest.mark.parametrize("program", SAME.values(), ids=SAME.keys())
def test_the_peak_is_the_same_to_the_byte(
    program: tuple[str, ...], expected: dict[tuple[str, ...], int]
) -> None:
    words = (*program, *TWO_STEPS)
    assert our_peak(*words) == expected[words]


def test_a_frozen_base_differs_only_by_what_any_dispatch_mode_changes(
    expected: dict[tuple[str, ...], int]
) -> None:
    """Several layers read one activation, so that its gradient is a sum of several.

    Autograd adds them up in place, except while a dispatch mode is on: then each sum is a new
    tensor. Under a mode that does nothing our peak is PyTorch's.
    """
    assert our_peak(*FROZEN_BASE, under_mode=True) == expected[FROZEN_BASE]
    assert our_peak(*FROZEN_BASE) < expected[FROZEN_BASE]
