"""What a tensor is made of: the plain dense tensors inside wrappers and sparse ones."""

from __future__ import annotations

import torch
from torch._C._functorch import get_unwrapped, is_functorch_wrapped_tensor
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

_COMPRESSED_ROWS = (torch.sparse_csr, torch.sparse_bsr)
_COMPRESSED_COLUMNS = (torch.sparse_csc, torch.sparse_bsc)


def wrapped_tensors(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that a wrapper (a DTensor, one of torch.func) holds itself; none of any other."""
    if is_functorch_wrapped_tensor(tensor):
        return [get_unwrapped(tensor)]
    if not is_traceable_wrapper_subclass(tensor):
        return []
    names, _ = tensor.__tensor_flatten__()
    return [part for name in names if isinstance(part := getattr(tensor, name), torch.Tensor)]


def parts_of(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The plain dense tensors inside, however deep; a plain one is its own part. One of a lazy module has
    none before a call has told its shape."""
    if is_lazy(tensor):
        return []
    if wrapped := wrapped_tensors(tensor):
        return [part for one in wrapped for part in parts_of(one)]
    if tensor.layout == torch.strided:
        return [tensor]
    if tensor.layout == torch.sparse_coo:
        return [torch.Tensor._indices(tensor), torch.Tensor._values(tensor)]
    if tensor.layout in _COMPRESSED_ROWS:
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in _COMPRESSED_COLUMNS:
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return []
