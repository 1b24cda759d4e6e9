"""PyTorch's MemTracker under FakeTensorMode on `cuda` gives the peak that we give, to the byte.

Both run the whole script, two optimizer steps. On our side the kernels that CUDA would choose
(attention, cuDNN) are switched off, since a CPU build, where fake tensors run, takes others.

Left out are examples that FakeTensorMode cannot run: shapes hang on values
(train_mixture_of_experts, train_packed_lstm), or the reducer's hook gets no tensor (train_ddp).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from peaks import our_peak, pytorch_peak

TWO_STEPS = ("--steps", "2")

SAME = {
    "plain loop": ("train_gpt.py", "--layers", "2", "--batch", "2", "--length", "64"),
    "autocast and GradScaler": ("train_amp.py",),
    "gradient accumulation": ("train_accumulation.py",),
    "checkpointing": ("train_checkpointing.py",),
    "reentrant checkpointing": ("train_checkpointing.py", "--reentrant"),
    "batch norm, channels last": ("train_convnet.py",),
    "ResNet": ("train_resnet.py",),
    "encoder-decoder": ("train_encoder_decoder.py",),
    "DataLoader, pinned": ("train_dataloader.py", "--workers", "0"),
    "checks of values": ("train_with_checks.py",),
}


@pytest.mark.parametrize("program", SAME.values(), ids=SAME.keys())
def test_the_peak_is_the_same_to_the_byte(program: tuple[str, ...]) -> None:
    with ThreadPoolExecutor() as both:
        ours = both.submit(our_peak, *program, *TWO_STEPS)
        assert pytorch_peak(*program, *TWO_STEPS) == ours.result()


def test_a_frozen_base_differs_only_by_what_any_dispatch_mode_changes() -> None:
    """Several layers read one activation, so that its gradient is a sum of several.

    Autograd adds them up in place, except while a dispatch mode is on: then each sum is a new
    tensor. Under a mode that does nothing our peak is PyTorch's.
    """
    program = ("train_lora.py", *TWO_STEPS)
    expected = pytorch_peak(*program)
    assert our_peak(*program, under_mode=True) == expected
    assert our_peak(*program) < expected
