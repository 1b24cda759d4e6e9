"""Attention of jagged tensors takes the kernels that a GPU takes, forward and backward, and their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from workspace_questions import bytes_taken

LENGTHS = (300, 77, 512, 130)
TOTAL, PARTS, LONGEST = sum(LENGTHS), len(LENGTHS), max(LENGTHS)
HEADS = 6


def ends(device: str = "cuda") -> torch.Tensor:
    return torch.tensor([0, *torch.tensor(LENGTHS).cumsum(0).tolist()], device=device)


def leaf(dtype: torch.dtype, size: int = 64, device: str = "cuda") -> torch.Tensor:
    return torch.zeros(TOTAL, HEADS, size, dtype=dtype, device=device, requires_grad=True)


def attention(leaves: list[torch.Tensor], **how: Any) -> torch.Tensor:
    at = ends(leaves[0].device.type)
    parts = (torch.nested.nested_tensor_from_jagged(one, at).transpose(1, 2) for one in leaves)
    return F.scaled_dot_product_attention(*parts, **how)


@pytest.fixture
def h200(open_session: Callable[..., Any]) -> Any:
    return open_session(1, "h200")


@pytest.mark.parametrize("how", [{"is_causal": True}, {}, {"dropout_p": 0.1}], ids=["causal", "full", "dropout"])
@pytest.mark.parametrize(("dtype", "kernel", "other"), [
    (torch.bfloat16, "flash", "efficient"), (torch.float16, "flash", "efficient"),
    (torch.float32, "efficient", "flash")])
def test_half_types_take_flash_and_floats_the_efficient_kernel(
        h200: Any, dtype: torch.dtype, kernel: str, other: str, how: dict[str, Any]) -> None:
    leaves = [leaf(dtype) for _ in range(3)]
    out = attention(leaves, **how)
    assert out.is_nested and out.dtype == dtype and out.size(1) == HEADS and out.size(3) == 64
    out.values().sum().backward()
    assert all(one.grad is not None and one.grad.shape == one.shape for one in leaves)
    assert h200.has_called([f"aten::_{kernel}_attention_forward"])
    assert h200.has_called([f"aten::_{kernel}_attention_backward"])
    assert not h200.has_called([f"aten::_{other}_attention_forward"])


def test_a_chosen_kernel_is_taken(h200: Any) -> None:
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        attention([leaf(torch.bfloat16) for _ in range(3)], is_causal=True).values().sum().backward()
    assert h200.has_called(["aten::_efficient_attention_backward"])
    assert not h200.has_called(["aten::_flash_attention_forward"])


def test_autocast_chooses_for_its_own_type(h200: Any) -> None:
    with torch.autocast("cuda", torch.bfloat16):
        assert attention([leaf(torch.float32) for _ in range(3)], is_causal=True).dtype == torch.bfloat16
    assert h200.has_called(["aten::_flash_attention_forward"])


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize("how", [
    {"size": 60, "dtype": torch.bfloat16}, {"size": 64, "dtype": torch.float64}], ids=["heads of 60", "doubles"])
def test_what_a_gpu_does_with_strided_ones_is_refused_in_words(how: dict[str, Any]) -> None:
    """PyTorch turns them into nested tensors of the strided layout: flash wants sizes that 8 divides,
    no fused kernel takes doubles."""
    with pytest.raises(RuntimeError, match=r"jagged tensors that neither .* there are no nested tensors"):
        attention([leaf(**how) for _ in range(3)])


@pytest.mark.usefixtures("gpus")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_jagged_ones_of_the_cpu_are_left_alone() -> None:
    leaves = [leaf(torch.float32, device="cpu") for _ in range(3)]
    out = attention(leaves).transpose(1, 2)
    assert out.device.type == "cpu" and out.values().shape == (TOTAL, HEADS, 64)


# What gradients take beside their results, as PyTorch's sources have it.


def gradients_of(kernel: str, dtype: torch.dtype, size: int) -> int:
    by_position = [leaf(dtype, size).detach() for _ in range(5)]
    number, at = torch.zeros((), dtype=torch.long), ends().int()
    if kernel == "flash":
        summed = torch.zeros(HEADS, TOTAL, device="cuda")
        return bytes_taken(lambda: torch.ops.aten._flash_attention_backward(
            *by_position, summed, at, at, LONGEST, LONGEST, 0.0, True, number, number))[0]
    gradient, q, k, v, out = (one[None] for one in by_position)
    summed = torch.zeros(PARTS, HEADS, LONGEST, device="cuda")
    return bytes_taken(lambda: torch.ops.aten._efficient_attention_backward(
        gradient, q, k, v, None, out, at, at, LONGEST, LONGEST, summed, 0.0, number, number, 1, False))[0]


@pytest.mark.usefixtures("h200")
def test_flash_adds_up_in_floats_with_a_block_more_for_each_part() -> None:
    queries = (TOTAL + 128 * PARTS) * HEADS
    assert gradients_of("flash", torch.bfloat16, 64) == queries * (64 + 1) * 4
    assert gradients_of("flash", torch.bfloat16, 96) == queries * (96 + 1) * 4
    assert gradients_of("flash", torch.bfloat16, 160) == queries * (192 + 1) * 4  # whole 64 above 128


@pytest.mark.usefixtures("h200")
def test_the_efficient_kernel_adds_up_tiles_of_the_longest_part() -> None:
    """A tile has four words for its lock. The sums of a row are there until the end; in float32 the product
    of gradient and output is gone when tiles are taken."""
    heads, row_sums = PARTS * HEADS, TOTAL * HEADS * 4
    small = heads * (LONGEST // 64) * (64 * 64 + 4) * 4
    assert gradients_of("efficient", torch.float32, 64) == row_sums + small
    assert gradients_of("efficient", torch.bfloat16, 64) == row_sums + small
    large = heads * (LONGEST // 128) * (128 * 128 + 4) * 4
    assert gradients_of("efficient", torch.bfloat16, 128) == row_sums + large
    long = heads * (LONGEST // 128) * 2 * (128 * 64 + 4) * 4  # tiles of 128 queries and 64 columns
    assert gradients_of("efficient", torch.float32, 128) == row_sums + long


@pytest.mark.usefixtures("h200")
def test_large_heads_in_half_precision_add_up_keys_and_values_too() -> None:
    """256 columns are four of a tile. 200 tiles are shared by 24 heads, so 8 of 64 keys each."""
    heads, row_sums = PARTS * HEADS, TOTAL * HEADS * 4
    queries = (LONGEST // 128) * 4 * (128 * 64 + 4)
    keys_and_values = min(LONGEST // 64, 200 // heads) * 64 * 2 * 256
    assert gradients_of("efficient", torch.float16, 256) == row_sums + heads * (queries + keys_and_values) * 4
    torch.use_deterministic_algorithms(True)
    try:
        alone = 64 * 2 * 256
        assert gradients_of("efficient", torch.float16, 256) == row_sums + heads * (queries + alone) * 4
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("h200")
def test_numbers_of_dropout_are_the_hosts_in_the_efficient_kernel() -> None:
    x = leaf(torch.float32).detach()[None]
    at = ends().int()
    _, _, seed, offset, _, _ = torch.ops.aten._efficient_attention_forward(
        x, x, x, None, at, at, LONGEST, LONGEST, 0.1, 0, True)
    assert seed.device.type == offset.device.type == "cpu"
