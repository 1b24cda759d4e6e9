"""Which attention kernels torch.backends.cuda says the GPU can use: a CPU build knows of none.

Jagged tensors choose their kernel by these answers, in Python.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tidemark.virtual_cuda.later_imports import when_imported
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

Answer = Callable[[Any, bool], bool]
_JAGGED = "jagged_scaled_dot_product_attention"


def patch_attention(patches: Patches) -> None:
    # Below torch.backends.cuda: whoever has one of its functions asks these.
    patches.set_all(
        torch._C,
        _is_flash_attention_available=lambda: True,
        _can_use_flash_attention=_can_use("flash"),
        _can_use_mem_efficient_attention=_can_use("efficient"),
        _can_use_cudnn_attention=_can_use("cudnn"),
    )

    def tell_refusals(operators: ModuleType) -> None:
        if hasattr(operators, _JAGGED):
            patches.set(operators, _JAGGED, _telling(getattr(operators, _JAGGED)))

    when_imported(patches, "torch.nested._internal.ops", tell_refusals)


def _can_use(kernel: str) -> Answer:
    def can_use(params: Any, debug: bool = False) -> bool:
        tensors = (params.query, params.key, params.value, params.attn_mask)
        with torch._C.DisableTorchFunctionSubclass():
            numbers = [None if one is None else one._cdata for one in tensors]
        obstacle = library().attention_obstacle(kernel, *numbers, params.dropout, params.is_causal,
                                                params.enable_gqa)
        if obstacle and debug:
            warnings.warn(f"{kernel} attention is not used: {obstacle}", stacklevel=3)
        return not obstacle

    return can_use


def _telling(attention: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A jagged tensor takes a NotImplementedError for a wish to be asked otherwise, and hides it."""
    @functools.wraps(attention)
    def attention_or_error(*args: Any, **kwargs: Any) -> torch.Tensor:
        try:
            return attention(*args, **kwargs)
        except NotImplementedError as error:
            raise RuntimeError(f"attention of jagged tensors that neither flash nor memory-efficient "
                               f"kernels take cannot run on virtual GPUs: {error}") from error

    return attention_or_error
