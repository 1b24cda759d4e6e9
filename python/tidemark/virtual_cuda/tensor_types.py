"""torch.cuda.FloatTensor and its kin."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.virtual_cuda.patches import Patches

_TYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


class _TensorType(type):
    dtype: torch.dtype
    is_cuda = True
    is_sparse = False

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, torch.Tensor) and value.is_cuda and value.dtype == cls.dtype

    def __call__(cls, *args: Any) -> torch.Tensor:
        if len(args) == 1 and not isinstance(args[0], (int, torch.Size)):
            return torch.as_tensor(args[0], dtype=cls.dtype, device="cuda")
        size = args[0] if args and isinstance(args[0], torch.Size) else args or (0,)
        return torch.empty(size, dtype=cls.dtype, device="cuda")


def patch_tensor_types(patches: Patches) -> None:
    for name, dtype in _TYPES.items():
        made = _TensorType(name, (), {"dtype": dtype, "__module__": "torch.cuda"})
        patches.set(torch.cuda, name, made)
