"""The parts of nn.SyncBatchNorm, which CUDA alone has: shapes, dtypes and layouts of their results.

For each channel two numbers, in single precision at least; gradients of weight and bias are of their
dtype, and only made where they are wanted; what is like the input has its layout.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

CHANNELS = 6
FORMATS = [torch.contiguous_format, torch.channels_last]


def image(dtype: torch.dtype, form: torch.memory_format = torch.contiguous_format) -> torch.Tensor:
    return torch.empty(2, CHANNELS, 4, 4, dtype=dtype, device="cuda").to(memory_format=form)


def channels(count: int = CHANNELS, dtype: torch.dtype = torch.float) -> torch.Tensor:
    return torch.empty(count, dtype=dtype, device="cuda")


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize(("dtype", "precise"), [
    (torch.half, torch.float), (torch.bfloat16, torch.float), (torch.float, torch.float),
    (torch.double, torch.double)])
def test_statistics_are_precise(dtype: torch.dtype, precise: torch.dtype) -> None:
    x, running = image(dtype), channels()
    of_ranks = torch.empty(4, CHANNELS, dtype=precise, device="cuda")
    for pair in (torch.batch_norm_stats(x, 1e-5),
                 torch.batch_norm_update_stats(x, running, running, 0.1),
                 torch.batch_norm_gather_stats(x, of_ranks, of_ranks, running, running, 0.1, 1e-5, 7),
                 torch.batch_norm_gather_stats_with_counts(
                     x, of_ranks, of_ranks, running, running, 0.1, 1e-5, channels(4))):
        assert [(one.shape, one.dtype) for one in pair] == [((CHANNELS,), precise)] * 2


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_like_the_input_is_laid_out_as_it(form: torch.memory_format) -> None:
    x, one = image(torch.half, form), channels()
    counts = torch.empty(4, dtype=torch.int, device="cuda")
    for made in (torch.batch_norm_elemt(x, one, one, one, one, 1e-5),
                 torch.batch_norm_backward_elemt(x, x, one, one, one, one, one, counts)):
        assert (made.shape, made.dtype, made.stride()) == (x.shape, x.dtype, x.stride())


@pytest.mark.usefixtures("gpus")
def test_a_transposed_input_is_like_itself_forward_and_in_rows_backward() -> None:
    x, one = torch.empty(2, 4, CHANNELS, device="cuda").transpose(1, 2), channels()
    counts = torch.empty(4, dtype=torch.int, device="cuda")
    assert torch.batch_norm_elemt(x, one, one, one, one, 1e-5).stride() == x.stride()
    made = torch.batch_norm_backward_elemt(x, x, one, one, one, one, one, counts)
    assert made.is_contiguous() and made.shape == x.shape


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("wanted", [(True, True, True), (True, False, True), (False, True, False)])
def test_only_wanted_sums_are_made(wanted: tuple[bool, bool, bool]) -> None:
    x, means, weight = image(torch.half), channels(), channels(dtype=torch.half)
    before = torch.cuda.memory_allocated()
    sums = torch.batch_norm_backward_reduce(x, x, means, means, weight, *wanted)
    expected = [wanted[0] and torch.float, wanted[0] and torch.float, wanted[1] and torch.half,
                wanted[2] and torch.half]
    assert [one is not None and one.dtype for one in sums] == expected
    assert {one.shape for one in sums if one is not None} == {(CHANNELS,)}
    assert torch.cuda.memory_allocated() - before == 512 * sum(map(bool, expected))
