"""The C++ part of the recorder, loaded after torch; and how it opens tensors it does not know."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.torch_match import check_torch, load_extension

check_torch("recording")
from torch.utils._pytree import tree_leaves  # noqa: E402

from tidemark.tensor_parts import wrapped_tensors  # noqa: E402

load_extension("_recorder")
from tidemark import _recorder  # noqa: E402

__all__ = ["_recorder", "inner_tensors"]


def inner_tensors(value: Any) -> list[Any] | None:
    """What is inside a wrapper of tensors or a container that C++ does not know; None if nothing."""
    if isinstance(value, torch.Tensor):
        return wrapped_tensors(value) or None
    leaves = tree_leaves(value)
    if len(leaves) == 1 and leaves[0] is value:
        return None
    return leaves


_recorder.set_opener(inner_tensors)
