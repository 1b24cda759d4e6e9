"""Gives storages their category: by tensor, however it is wrapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from tidemark.tensor_parts import parts_of
from tidemark.virtual_cuda.library import library


def label(value: Any, category: str, scope: int = -1) -> None:
    """Gives a tensor's storage its category, and its owner; anything else is left alone."""
    label_tensors(value, lambda storage: library().label(storage, category, scope))


def label_tensors(value: Any, give: Callable[[int], None]) -> None:
    """Calls give(storage) for every tensor in a value that is counted, on a virtual GPU or pinned: lists,
    dictionaries, sharded ones."""
    if isinstance(value, torch.Tensor):
        for part in parts_of(value):
            if part.is_cuda or (part.device.type == "cpu" and part.is_pinned()):
                give(part.untyped_storage()._cdata)
    elif isinstance(value, dict):
        for one in value.values():
            label_tensors(one, give)
    elif isinstance(value, (list, tuple)):
        for one in value:
            label_tensors(one, give)


class ShardedLabels:
    """What an estimate does with what FSDP tells it. Gradients of parameters that were put together are
    known as such where they arise."""

    def __init__(self, name_of: Callable[[nn.Module], str | None]) -> None:
        self._name_of = name_of

    def set_purpose(self, category: str) -> str:
        return str(library().set_purpose(category))

    def own(self, unit: nn.Module, tensors: Any, category: str) -> None:
        name = self._name_of(unit)
        label(tensors, category, library().scope(name) if name else -1)

    def label(self, tensors: Any, category: str) -> None:
        label(tensors, category)

    def take_sharded_gradient(self, parameter: Any, gradient: Any) -> None:
        label(gradient, "ShardedGradient")

    def follow_unsharded(self, parameter: Any) -> None:
        label(parameter, "UnshardedParameter")

    def give_up(self, problem: Exception) -> None:
        library().diagnose("sharding-unfollowed", library().current_source(),
                           f"what FSDP makes may be in a wrong category from here on: {problem!r}")
