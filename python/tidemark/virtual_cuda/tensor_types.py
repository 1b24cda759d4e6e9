"""torch.cuda.FloatTensor and its kin, as types, as constructors and as the default."""

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
    layout = torch.strided

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return cls.__qualname__

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, torch.Tensor) and value.is_cuda and value.dtype == cls.dtype

    def __call__(cls, *args: Any) -> torch.Tensor:
        if len(args) == 1 and not isinstance(args[0], (int, torch.Size)):
            return torch.as_tensor(args[0], dtype=cls.dtype, device="cuda")
        size = args[0] if args and isinstance(args[0], torch.Size) else args or (0,)
        return torch.empty(size, dtype=cls.dtype, device="cuda")


def patch_tensor_types(patches: Patches) -> None:
    for name, dtype in _TYPES.items():
        # Tensor.type() goes by the name that the type was made with.
        made = _TensorType(f"torch.cuda.{name}", (), {
            "dtype": dtype, "__module__": "torch.cuda", "__qualname__": name})
        patches.set(torch.cuda, name, made)
    patch_default_type(patches)


def patch_default_type(patches: Patches) -> None:
    """A CPU build cannot make a type of CUDA the default; it has defaults for device and dtype."""
    set_elsewhere = torch._C._set_default_tensor_type
    on_cuda = Patches()

    def set_default(kind: Any) -> None:
        on_cuda.restore()
        if not isinstance(kind, _TensorType):
            set_elsewhere(kind)
            return
        if not kind.dtype.is_floating_point:
            raise TypeError("only floating-point types are supported as the default type")
        torch.set_default_dtype(kind.dtype)
        on_cuda.set(torch.Tensor, "__new__", staticmethod(_new_on_cuda))
        torch.set_default_device("cuda")
        on_cuda.call_afterwards(lambda: torch.set_default_device(None))

    patches.set(torch._C, "_set_default_tensor_type", set_default)
    dtype = torch.get_default_dtype()
    patches.call_afterwards(lambda: torch.set_default_dtype(dtype))
    patches.call_afterwards(on_cuda.restore)


def _new_on_cuda(cls: type, *args: Any, **kwargs: Any) -> Any:
    """torch.Tensor(2, 3), which heeds no default device."""
    made: Any = torch._C.TensorBase.__new__(cls, *args, **kwargs)
    return made.cuda() if cls is torch.Tensor and "device" not in kwargs else made
