"""Modes and wrappers of PyTorch's own around virtual tensors: inference mode, fake tensors, torch.func,
the profiler."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call, grad, hessian, jacfwd, jvp, vmap
from torch.profiler import ProfilerActivity, profile


def inference_facts(device: str) -> list[object]:
    """What of a trained model, its input and results is an inference tensor; versions, too."""
    model, outside = nn.Linear(4, 4).to(device), torch.ones(2, 4, device=device)
    with torch.inference_mode():
        inside = torch.ones(2, 4, device=device)
        views = [f(t) for t in (outside, inside) for f in VIEWS]
        made = [model(inside), model(outside), inside + 1, outside.clone(), outside.contiguous()]
        outside.view(8).add_(1)
        inside.view(8).add_(1)
    later = [f(t) for t in (outside, inside) for f in VIEWS]
    tensors = [*views, *made, *later]
    return [outside._version, [t.is_inference() for t in tensors], [t.requires_grad for t in tensors],
            [t._is_view() for t in tensors if not t.is_inference()]]


VIEWS = [lambda t: t.view(8), lambda t: t.t(), lambda t: t.detach(), lambda t: t[0], lambda t: t[:, 1:],
         lambda t: t.transpose(0, 1), lambda t: t.unsqueeze(0), lambda t: t.expand(2, 4),
         lambda t: t.chunk(2)[0], lambda t: t.as_strided((2,), (1,))]


def test_inference_mode_is_that_of_the_cpu(gpus: Any) -> None:
    expected = inference_facts("cpu")
    for _ in range(2):  # the second time from the memo
        assert inference_facts("cuda") == expected


def test_views_of_outside_may_be_trained_after_inference_mode(gpus: Any) -> None:
    weight = torch.ones(4, 4, device="cuda", requires_grad=True)
    with torch.inference_mode():
        weight.t() @ weight
    (weight.t() @ weight).sum().backward()
    assert weight.grad is not None


def test_fake_tensors_are_left_to_their_mode(gpus: Any) -> None:
    with FakeTensorMode() as mode:
        parameter = nn.Parameter(torch.empty(4, 4, device="cuda"))
        views = [parameter.detach(), parameter.t(), parameter.view(16), parameter[0].detach()]
        (parameter @ parameter.t()).sum().backward()
        model = nn.Linear(4, 4, device="cuda")
        model(torch.empty(2, 4, device="cuda")).sum().backward()
    assert all(type(t).__name__ == "FakeTensor" for t in [parameter.grad, *views])
    assert all(t.device == torch.device("cuda", 0) for t in views)
    real = torch.ones(4, 4, device="cuda")
    fake = mode.from_tensor(real)
    assert fake.shape == real.shape and fake.device == real.device and fake.t().detach().is_cuda
    assert torch.cuda.memory_allocated() == 512  # that of the real one


def test_a_fake_tensor_may_be_on_a_device_that_is_not_there(gpus: Any) -> None:
    """There are two; with autograd's own exception the process would end."""
    with FakeTensorMode():
        parameter = nn.Parameter(torch.empty(4, device="cuda"))
        assert parameter.to("cuda:5").device == torch.device("cuda", 5)


def test_a_model_on_a_virtual_gpu_can_be_exported(gpus: Any) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
    exported = torch.export.export(model, (torch.ones(3, 4, device="cuda"),))
    assert [str(node.target) for node in exported.graph.nodes if node.op == "call_function"] == [
        "aten.linear.default", "aten.relu.default", "aten.linear.default"]
    assert exported.module()(torch.ones(3, 4, device="cuda")).shape == (3, 2)


def test_torch_func_over_a_module(gpus: Any) -> None:
    model, x = nn.Linear(4, 4).cuda(), torch.ones(2, 4, device="cuda")
    weights = dict(model.named_parameters())

    def loss(weights: Any, x: torch.Tensor) -> torch.Tensor:
        return functional_call(model, weights, (x,)).square().sum()

    assert grad(loss)(weights, x)["weight"].shape == (4, 4)
    assert vmap(loss, (None, 0))(weights, x).shape == (2,)
    assert vmap(grad(loss), (None, 0))(weights, x)["weight"].shape == (2, 4, 4)
    assert jvp(model, (x,), (x,))[1].shape == jacfwd(model)(x).shape[:2] == (2, 4)
    assert hessian(lambda x: loss(weights, x))(x).shape == (2, 4, 2, 4)


def test_the_profiler_follows_the_gpu_quietly(gpus: Any, capfd: pytest.CaptureFixture[str]) -> None:
    model = nn.Linear(64, 64).cuda()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as seen:
        model(torch.ones(2, 64, device="cuda")).sum().backward()
    assert "aten::addmm" in seen.key_averages().table(sort_by="self_device_memory_usage")
    assert "Exception" not in capfd.readouterr().err


def test_dlpack_hands_the_tensor_itself_over(gpus: Any) -> None:
    x = torch.arange(4, device="cuda")
    y = torch.from_dlpack(x)
    assert y.tolist() == [0, 1, 2, 3] and (y + 1).tolist() == [1, 2, 3, 4]
    # What a capsule brings has no values that are known.
    for y in (y, torch.from_dlpack(torch.utils.dlpack.to_dlpack(x)), torch.from_dlpack(x.__dlpack__())):
        assert y.data_ptr() == x.data_ptr() and y.device == x.device and "cuda:0" in repr(y)
        assert (y + 1).is_cuda and y[1:].view(3, 1).t().contiguous().shape == (1, 3)
        assert torch.from_dlpack(y).add_(1).device == x.device
    with pytest.raises(BufferError, match="require gradient"):
        torch.from_dlpack(torch.ones(2, device="cuda", requires_grad=True))
    assert torch.cuda.memory_allocated() == 512
