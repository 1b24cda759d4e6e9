"""nn.LSTMCell, nn.GRUCell and spatial transformers: CUDA has kernels of its own for them.

Gradients must be those of the CPU in number, shape and dtype, whichever results are used and whether there are
biases. What the forward keeps is known of PyTorch's CUDA kernels: four numbers a unit of an LSTM, five of a GRU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

BATCH, INPUT, HIDDEN = 8, 32, 64
KIB = 1024


def step(kind: type[nn.RNNCellBase], device: str, bias: bool, used: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Shape and dtype of the results, and of the gradient of each parameter and of the input."""
    cell = kind(INPUT, HIDDEN, bias=bias, device=device)
    x = torch.ones(BATCH, INPUT, device=device, requires_grad=True)
    results = cell(x)
    results = results if isinstance(results, tuple) else (results,)
    torch.stack([results[number].sum() for number in used]).sum().backward()
    gradients = [each.grad for each in (*cell.parameters(), x)]
    return [(tuple(each.shape), each.dtype) if isinstance(each, Tensor) else ("none",)
            for each in (*results, *gradients)]


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("kind", "used"), [
    (nn.LSTMCell, (0,)), (nn.LSTMCell, (1,)), (nn.LSTMCell, (0, 1)), (nn.GRUCell, (0,)), (nn.RNNCell, (0,))])
def test_a_step_has_the_results_and_gradients_of_the_cpu(
    kind: type[nn.RNNCellBase], used: tuple[int, ...], bias: bool,
) -> None:
    assert step(kind, "cuda", bias, used) == step(kind, "cpu", bias, used)


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize(("operator", "gates", "made", "kept"), [("lstm", 4, 2, 4), ("gru", 3, 1, 5)])
def test_what_a_forward_keeps_is_known(operator: str, gates: int, made: int, kept: int) -> None:
    of_input, of_hidden = (torch.ones(BATCH, gates * HIDDEN, device="cuda") for _ in range(2))
    state = torch.ones(BATCH, HIDDEN, device="cuda")
    before = torch.cuda.memory_allocated()
    results = getattr(torch.ops.aten, f"_thnn_fused_{operator}_cell")(of_input, of_hidden, state)
    assert len(results) == made + 1
    assert torch.cuda.memory_allocated() - before == (made + kept) * BATCH * HIDDEN * 4


@pytest.mark.usefixtures("gpus")
def test_half_precision_stays_half() -> None:
    cell = nn.GRUCell(INPUT, HIDDEN, device="cuda", dtype=torch.bfloat16)
    hidden = cell(torch.ones(BATCH, INPUT, device="cuda", dtype=torch.bfloat16))
    hidden.sum().backward()
    assert hidden.dtype == cell.weight_ih.grad.dtype == torch.bfloat16
    with torch.autocast("cuda", torch.float16):
        assert nn.GRUCell(INPUT, HIDDEN, device="cuda")(torch.ones(BATCH, INPUT, device="cuda")).dtype == torch.half


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_a_net_without_cudnn_goes_step_by_step(kind: type[nn.RNNBase]) -> None:
    with torch.backends.cudnn.flags(enabled=False):
        net = kind(INPUT, HIDDEN, 2, bidirectional=True, device="cuda")
        output, _ = net(torch.ones(5, BATCH, INPUT, device="cuda"))
        output.sum().backward()
    assert output.shape == (5, BATCH, 2 * HIDDEN)
    assert all(each.grad is not None and each.grad.shape == each.shape for each in net.parameters())


@pytest.mark.usefixtures("gpus")
def test_gates_of_another_batch_are_refused() -> None:
    gates, fewer = torch.ones(BATCH, 3 * HIDDEN, device="cuda"), torch.ones(BATCH - 1, 3 * HIDDEN, device="cuda")
    hidden = torch.ones(BATCH, HIDDEN, device="cuda")
    with pytest.raises(RuntimeError, match="differ in size"):
        torch.ops.aten._thnn_fused_gru_cell(gates, fewer, hidden)
    with pytest.raises(RuntimeError, match="does not fit"):
        torch.ops.aten._thnn_fused_lstm_cell(gates, gates, hidden)  # four gates, it wants


def transform(device: str, image_of: Callable[[Tensor], Tensor], align_corners: bool) -> list[tuple[Any, ...]]:
    image = torch.ones(2, 3, 16, 8, device=device, requires_grad=True)
    theta = torch.ones(2, 2, 3, device=device, requires_grad=True)
    grid = nn.functional.affine_grid(theta, [2, 3, 5, 7], align_corners=align_corners)
    sampled = nn.functional.grid_sample(image_of(image), grid, align_corners=align_corners)
    (sampled * 2).sum().backward()
    assert image.grad is not None and theta.grad is not None
    return [(tuple(each.shape), each.dtype) for each in (sampled, image.grad, theta.grad)]


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("align_corners", [True, False])  # cuDNN's kernel, PyTorch's own
@pytest.mark.parametrize("image_of", [lambda x: x, lambda x: x.flip(2), lambda x: x[:1].expand(2, -1, -1, -1)])
def test_a_spatial_transformer_has_the_results_and_gradients_of_the_cpu(
    image_of: Callable[[Tensor], Tensor], align_corners: bool,
) -> None:
    assert transform("cuda", image_of, align_corners) == transform("cpu", image_of, align_corners)


@pytest.mark.usefixtures("gpus")
def test_sampled_images_lie_in_rows_and_expanded_ones_are_copied_for_the_call() -> None:
    image = torch.ones(2, 3, 16, 8, device="cuda").to(memory_format=torch.channels_last)
    grid = torch.ones(2, 64, 64, 2, device="cuda")
    assert nn.functional.grid_sample(image, grid, align_corners=True).is_contiguous()
    few, wide = torch.ones(1, 1, 256, 256, device="cuda").expand(4, 8, 256, 256), grid[:1].expand(4, 64, 64, 2)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = nn.functional.grid_sample(few, wide, align_corners=True)
    taken = torch.cuda.max_memory_allocated() - before
    # 8 MiB of image and 128 KiB of grid, beside 512 KiB of result
    assert taken - result.nbytes == 8 * KIB * KIB + 128 * KIB
    assert torch.cuda.memory_allocated() - before == result.nbytes == 512 * KIB
