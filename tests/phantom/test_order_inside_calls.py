"""Operators that copy and count inside: how much, and before or after which result, as on an H200.

Addresses of virtual GPUs rise by blocks of 512 bytes, whatever is given back, so they tell what was taken between
two results. Which bytes, and in which order, was recorded in training runs with torch 2.11.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from workspace_questions import bytes_taken

import tidemark
from tidemark.virtual_cuda import close_gpus, library

aten = torch.ops.aten


@pytest.fixture
def h200(open_session: Callable[..., Any]) -> Any:
    return open_session(1, "h200")


def made(*sizes: int, strides: tuple[int, ...] = (), dtype: torch.dtype = torch.float32) -> torch.Tensor:
    if not strides:
        return torch.empty(sizes, dtype=dtype, device="cuda")
    reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return torch.empty(reach + 1, dtype=dtype, device="cuda").as_strided(sizes, strides)


def complexes(*sizes: int, strides: tuple[int, ...] = ()) -> torch.Tensor:
    return made(*sizes, strides=strides, dtype=torch.complex64)


def in_blocks(size: int) -> int:
    return (size + 511) // 512 * 512


def blocks_before_each_result(call: Callable[[], Any]) -> list[int]:
    """What was taken before each result, and after the last one."""
    start = made(1)
    results = call()
    flat = [results] if isinstance(results, torch.Tensor) else [one for one in results if one is not None]
    places = [start, *sorted(flat, key=torch.Tensor.data_ptr), made(1)]
    return [after.data_ptr() - before.data_ptr() - in_blocks(before.nbytes)
            for before, after in zip(places, places[1:])]


PLANES, TURNED = (2097152, 65536, 256, 1), (2097152, 1, 8192, 32)
INNER, MIDDLE = (1, 18432, 576), (1, 576, 18432)

# The call; the bytes of its pieces before each result and after the last one; which of them are there at once.
CALLS: dict[str, tuple[Callable[[], Callable[[], Any]], list[list[int]]]] = {
    "real signals whose batch does not join are copied": (
        lambda: (lambda x=made(16, 32, 256, 256, strides=TURNED): aten._fft_r2c(x, [2, 3], 0, True)),
        [[], [134217728]]),
    "real signals as they lie": (
        lambda: (lambda x=made(16, 32, 256, 256): aten._fft_r2c(x, [2, 3], 0, True)), [[], []]),
    "complex signals as they lie": (
        lambda: (lambda x=complexes(16, 32, 256, 256): aten._fft_c2c(x, [2, 3], 0, False)), [[], []]),
    "what real signals are made of is copied": (
        lambda: (lambda x=complexes(16, 32, 256, 129): aten._fft_c2r(x, [2, 3], 2, 256)),
        [[], [135266304]]),
    "a batch that lies innermost is copied": (
        lambda: (lambda x=complexes(576, 16, 32), y=complexes(576, 32, 32, strides=INNER): x @ y),
        [[], [4718592]]),
    "both batches are copied": (
        lambda: (lambda x=complexes(576, 16, 32, strides=INNER), y=complexes(576, 32, 32, strides=MIDDLE): x @ y),
        [[], [4718592, 2359296]]),
    "a batch of turned matrices is not": (
        lambda: (lambda x=complexes(576, 32, 16, strides=(512, 1, 32)),
                 y=complexes(576, 16, 32, strides=INNER): x @ y),
        [[], [2359296]]),
    "a turned matrix is not": (
        lambda: (lambda x=made(1 << 20, 32).t(), y=made(1 << 20, 3): x @ y), [[], []]),
    # 20 blocks share each of 12 results: a mean, a sum of squares and two counts each, and 12 counters.
    "standard deviations are told from partial ones": (
        lambda: (lambda x=made(160, 12, 32, 32): aten.std_mean(x, [0, 2, 3], correction=1)),
        [[], [], [3840, 48]]),
    # 528 blocks leave a least and a greatest number each.
    "extremes are told from partial ones": (
        lambda: (lambda x=made(64, 128, 48, 48): aten.aminmax(x)), [[], [], [4224, 4]]),
    "a norm of groups needs no factors without a weight": (
        lambda: (lambda x=made(256, 32, 32, 32): aten.native_group_norm(x, None, None, 256, 32, 1024, 16, 1e-5)),
        [[], [], [], []]),
    "indices are put in one list": (
        lambda: (lambda x=made(32000, 768), i=made(4, 1024, strides=(1025, 1), dtype=torch.long):
                 aten.embedding(x, i)),
        [[32768], []]),
    # 375 chunks of 65536 numbers in the largest of 106 tensors: 159000 bytes.
    "norms of many tensors share partial ones": (
        lambda: (lambda x=[made(32000, 768), *[made(768)] * 105]: aten._foreach_norm(x, 2)),
        [[159000], *[[]] * 106]),
}


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize("name", list(CALLS))
def test_takes_what_a_real_gpu_takes(name: str) -> None:
    make, pieces = CALLS[name]
    call = make()
    call()  # keeps cuBLAS's workspace
    for _ in range(2):  # from the memo, too
        assert blocks_before_each_result(call) == [sum(map(in_blocks, some)) for some in pieces]
    assert bytes_taken(call)[0] == sum(map(sum, pieces))


@pytest.mark.usefixtures("h200")
def test_zero_points_are_looked_at_before_anything_is_born() -> None:
    weight, scale, zero = made(64, 64, 3, 3), made(64), made(64, dtype=torch.int)

    def call() -> Any:
        return aten.fake_quantize_per_channel_affine_cachemask(weight, scale, zero, 0, -127, 127)

    call()  # of this operator, which has no meta kernel, the CPU tells the shapes at first
    assert blocks_before_each_result(call) == [1024, 0, 0]  # two numbers
    assert bytes_taken(call)[0] == 0


def test_none_without_cudas_choices(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200", cuda_choices=False)
    for make, pieces in CALLS.values():
        assert blocks_before_each_result(make()) == [0] * len(pieces)


SIDES = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)


def half_of_channels() -> torch.Tensor:
    """3932160 bytes of 12 channels, in two of which a convolution reads six."""
    return made(160, 12, 32, 32)[:, 6:]


@pytest.mark.usefixtures("h200")
def test_a_convolution_copies_its_input_before_the_result_and_its_weight_after_it() -> None:
    x, w = half_of_channels(), made(12, 6, 3, 3)
    assert blocks_before_each_result(lambda: aten.convolution(x, w, None, *SIDES))[0] == 3932160
    x, w = made(160, 12, 32, 32), made(12, 12, 1, 1, strides=(1, 12, 1, 1))
    before, after = blocks_before_each_result(
        lambda: aten.convolution(x, w, None, [1, 1], [0, 0], *SIDES[2:]))
    assert before == 0 and after >= 1024  # 576 bytes of a weight


@pytest.mark.usefixtures("h200")
def test_a_convolutions_backward_copies_the_input_for_the_weights_gradient_alone() -> None:
    gradient, x, w = made(160, 12, 32, 32), half_of_channels(), made(12, 6, 3, 3)

    def before_first_result(*wanted: bool) -> int:
        return blocks_before_each_result(
            lambda: aten.convolution_backward(gradient, x, w, [12], *SIDES, list(wanted)))[0]

    assert before_first_result(True, True, True) == 3932160
    assert before_first_result(False, True, False) == 3932160
    assert before_first_result(True, False, False) == 0


@pytest.mark.usefixtures("h200")
def test_a_convolutions_backward_copies_the_weight_for_the_inputs_gradient_alone() -> None:
    gradient, x = made(160, 48, 8, 8), made(160, 48, 8, 8)
    turned, straight = made(48, 48, 1, 1, strides=(1, 48, 1, 1)), made(48, 48, 1, 1)

    def blocks(w: torch.Tensor, *wanted: bool) -> list[int]:
        return blocks_before_each_result(lambda: aten.convolution_backward(
            gradient, x, w, None, [1, 1], [0, 0], *SIDES[2:], list(wanted)))

    lies_otherwise, lies_so = blocks(turned, True, False, False), blocks(straight, True, False, False)
    assert lies_otherwise == [0, lies_so[1] + 9216]
    assert blocks(turned, False, True, False) == blocks(straight, False, True, False)


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize(("channels", "scratch"), [(12, 1024 + 512), (512, 4096 + 2048)])
def test_a_bias_gradient_is_a_sum_after_all_else(channels: int, scratch: int) -> None:
    gradient, x, w = made(160, channels, 32, 32), half_of_channels(), made(channels, 6, 3, 3)
    blocks = blocks_before_each_result(
        lambda: aten.convolution_backward(gradient, x, w, [channels], *SIDES, [True, True, True]))
    assert blocks[-1] == scratch


@pytest.mark.usefixtures("h200")
def test_log_sigmoid_leaves_its_buffer_empty_and_backward_needs_none() -> None:
    result, buffer = aten.log_sigmoid_forward(made(4, 1024, 384))
    assert buffer.shape == (0,) and buffer.untyped_storage().nbytes() == 0
    assert blocks_before_each_result(lambda: aten.log_sigmoid_forward(made(4, 1024, 384))[0])[1:] == [0]
    for values in ([0.0], [0.0, 0.0]):  # known ones, of which the derivative is a half
        x = torch.tensor(values, device="cuda", requires_grad=True)
        torch.nn.functional.logsigmoid(x).sum().backward()
        assert x.grad is not None and x.grad.tolist() == [0.5] * len(values)
    x = made(4, 1024, 384).requires_grad_()
    torch.nn.functional.logsigmoid(x).sum().backward()
    assert x.grad is not None and x.grad.shape == x.shape


def test_log_sigmoid_keeps_its_buffer_without_cudas_choices(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200", cuda_choices=False)
    assert aten.log_sigmoid_forward(made(4, 8))[1].shape == (4, 8)


def test_cublas_takes_its_workspace_after_copies_of_what_it_reads(
        open_session: Callable[..., Any], tmp_path: Path) -> None:
    open_session(1, "h200", save=str(tmp_path / "run.tape"))
    x, y = complexes(576, 32, 16, strides=(512, 1, 32)), complexes(576, 16, 32, strides=INNER)
    _ = x @ y
    library().finish()
    close_gpus()
    born = [event.bytes for event in tidemark.open(tmp_path / "run.tape")
            if event.kind.name == "Alloc" and event.op == "aten::bmm"]
    assert born == [4718592, 2359296, 32 << 20]
