"""Operators whose shapes follow from values, and operators that have no meta kernel."""

from __future__ import annotations

from typing import Any

import pytest
import torch


def test_a_known_mask_selects_as_many_rows_as_it_has_trues(gpus: Any) -> None:
    rows = torch.empty(4, 3, device="cuda")
    mask = torch.tensor([True, False, True, True], device="cuda")
    assert rows[mask].shape == (3, 3)


def test_a_mask_on_the_cpu_selects_from_a_tensor_on_the_gpu(gpus: Any) -> None:
    rows = torch.empty(4, 3, device="cuda")
    assert rows[torch.tensor([True, False, False, True])].shape == (2, 3)


def test_a_mask_of_two_dimensions_uses_up_both(gpus: Any) -> None:
    values = torch.empty(2, 2, 5, device="cuda")
    mask = torch.tensor([[True, False], [True, True]], device="cuda")
    assert values[mask].shape == (3, 5)


def test_an_unknown_mask_is_taken_as_all_true(gpus: Any) -> None:
    rows = torch.empty(4, 3, device="cuda")
    assert rows[torch.randn(4, 1024 * 1024, device="cuda")[:, 0] > 0].shape == (4, 3)


def test_values_can_be_put_where_a_mask_is_true(gpus: Any) -> None:
    rows = torch.zeros(4, dtype=torch.long, device="cuda")
    rows[torch.tensor([True, False, True, False], device="cuda")] = 7
    assert rows.tolist() == [7, 0, 7, 0]


def test_a_number_on_the_cpu_fills_where_a_mask_is_true(gpus: Any) -> None:
    scores = torch.empty(2, 3, device="cuda")
    mask = torch.ones(2, 3, dtype=torch.bool, device="cuda")
    assert scores.masked_fill(mask, torch.tensor(-1.0)).shape == (2, 3)


def test_whole_numbers_are_counted_into_bins_as_cuda_does(gpus: Any) -> None:
    chosen = torch.tensor([0, 2, 2, 3], dtype=torch.int32, device="cuda")
    counts = torch.histc(chosen, bins=4, min=0, max=3)
    assert (counts.dtype, counts.tolist()) == (torch.int32, [1, 0, 2, 1])


def test_repeats_that_are_not_known_are_one_each(gpus: Any) -> None:
    repeats = torch.randn(6, 1024 * 1024, device="cuda")[:, 0].long()
    assert torch.arange(6, device="cuda").repeat_interleave(repeats).shape == (6,)


def test_a_check_of_values_that_are_not_known_passes(gpus: Any) -> None:
    torch._check_tensor_all(torch.randn(1024, 1024, device="cuda") < 5)


def test_a_check_of_known_values_still_fails(gpus: Any) -> None:
    with pytest.raises(RuntimeError):
        torch._check_tensor_all(torch.tensor([True, False], device="cuda"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_grouped_products_have_one_shape_in_every_dtype(gpus: Any, dtype: torch.dtype) -> None:
    tokens = torch.empty(16, 32, device="cuda", dtype=dtype)
    experts = torch.empty(4, 32, 64, device="cuda", dtype=dtype)
    ends = torch.tensor([4, 8, 12, 16], dtype=torch.int32, device="cuda")
    assert torch._grouped_mm(tokens, experts, offs=ends).shape == (16, 64)


def test_an_operator_without_a_meta_kernel_gets_its_shape_from_the_cpu(gpus: Any) -> None:
    library = torch.library.Library("tidemark_test_shapes", "DEF")
    library.define("first_half(Tensor x) -> Tensor")
    library.impl("first_half", lambda x: x[: x.shape[0] // 2].clone(), "CPU")
    result = torch.ops.tidemark_test_shapes.first_half(torch.empty(6, 2, device="cuda"))
    assert (result.shape, result.device.type) == ((3, 2), "cuda")


def test_an_operator_for_real_gpus_only_is_named_with_its_line(gpus: Any) -> None:
    library = torch.library.Library("tidemark_test_gpu", "DEF")
    library.define("only_here(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError) as caught:
        torch.ops.tidemark_test_gpu.only_here(torch.empty(2, device="cuda"))
    assert "tidemark_test_gpu::only_here" in str(caught.value)
    assert "test_value_operators.py:" in str(caught.value)
