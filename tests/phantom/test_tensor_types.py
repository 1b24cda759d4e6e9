"""torch.cuda.FloatTensor and its kin: the types of old programs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

TYPES = ["Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"]


@pytest.mark.parametrize("name", TYPES)
def test_a_type_makes_casts_and_recognises_tensors(gpus: Any, name: str) -> None:
    """As its brother for the CPU does, on the GPU."""
    there, here = getattr(torch.cuda, f"{name}Tensor"), getattr(torch, f"{name}Tensor")
    for on_gpu, on_cpu in [
        (there(2, 3), here(2, 3)), (there([1, 0]), here([1, 0])), (there(), here()),
        (torch.ones(3).type(there), torch.ones(3).type(here)),
        (torch.ones(3, device="cuda").type(there), torch.ones(3).type(here)),
        (torch.ones(3).type(f"torch.cuda.{name}Tensor"), torch.ones(3).type(here)),
    ]:
        assert on_gpu.is_cuda and on_gpu.dtype == on_cpu.dtype == there.dtype
        assert on_gpu.shape == on_cpu.shape
        assert on_gpu.type() == f"torch.cuda.{name}Tensor"
        assert isinstance(on_gpu, there) and not isinstance(on_cpu, there)
    assert there([1, 0]).tolist() == here([1, 0]).tolist()
    assert (there.__name__, there.__module__) == (here.__name__, "torch.cuda")


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
@pytest.mark.parametrize("kind", ["torch.cuda.FloatTensor", "torch.cuda.HalfTensor", "type"])
def test_a_type_of_cuda_can_be_the_default(gpus: Any, kind: str) -> None:
    torch.set_default_tensor_type(torch.cuda.DoubleTensor if kind == "type" else kind)
    dtype = {"type": torch.float64, "torch.cuda.HalfTensor": torch.float16}.get(kind, torch.float32)
    made = [torch.ones(3), torch.tensor([1.5]), torch.nn.Linear(3, 3).weight, torch.Tensor(2, 3),
            torch.Tensor([1.5]), torch.rand(2)]
    assert [(one.is_cuda, one.dtype) for one in made] == [(True, dtype)] * len(made)
    assert torch.arange(3).is_cuda and torch.arange(3).dtype == torch.int64
    assert not torch.ones(3, device="cpu").is_cuda
    assert isinstance(torch.Tensor([1.5]), torch.Tensor) and made[4].tolist() == [1.5]
    torch.set_default_tensor_type("torch.FloatTensor")
    made = [torch.ones(3), torch.Tensor(2, 3), torch.tensor([1.5])]
    assert [(one.is_cuda, one.dtype) for one in made] == [(False, torch.float32)] * 3


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_whole_numbers_are_no_default_and_closing_takes_the_default_back(gpus: Any) -> None:
    from tidemark.virtual_cuda import close_gpus

    with pytest.raises(TypeError, match="only floating-point types"):
        torch.set_default_tensor_type("torch.cuda.LongTensor")
    torch.set_default_tensor_type("torch.cuda.HalfTensor")
    close_gpus()
    assert torch.ones(3).dtype == torch.float32 and not torch.Tensor(2).is_cuda
