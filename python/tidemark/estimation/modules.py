"""Follows module calls: names them, and labels what modules own and are given.

The hooks are C++; Python runs when a module is met for the first time, and for the inputs of
outermost calls.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils.weak import WeakIdKeyDictionary

from tidemark.estimation.labels import label, label_tensors
from tidemark.virtual_cuda.library import library


class ModuleCalls:
    """Hooks on every module; the outermost one that is called gives its tree the names."""

    def __init__(self) -> None:
        self._roots: dict[str, int] = {}  # how many have that name
        self._hooked = WeakIdKeyDictionary()  # parameters
        self._handles: list[Any] = []

    def watch(self) -> None:
        library().watch_modules(self._name_tree, self._take_inputs)
        self._handles = [
            register_module_forward_pre_hook(library().before_module),
            register_module_forward_hook(library().after_module, always_call=True),
        ]

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        library().unwatch_modules()

    @staticmethod
    def _take_inputs(inputs: Any) -> None:
        label_tensors(inputs, library().label_input)

    def _name_tree(self, root: nn.Module) -> None:
        """Names every module below, anew where it was a root of its own before."""
        name = self._root_name(root)
        for path, module in root.named_modules():
            scope = library().scope(f"{name}.{path}" if path else name)
            library().remember_module(module, scope)
            weakref.finalize(module, library().forget_module, id(module)).atexit = False
            for parameter in module.parameters(recurse=False):
                label(parameter, "Parameter", scope)
                self._hook(parameter)
            for buffer in module.buffers(recurse=False):
                label(buffer, "Buffer", scope)

    def _root_name(self, root: nn.Module) -> str:
        name = type(root).__name__
        self._roots[name] = number = self._roots.get(name, 0) + 1
        return name if number == 1 else f"{name}_{number}"

    def _hook(self, parameter: nn.Parameter) -> None:
        """Its gradient is labelled as soon as it is there."""
        if parameter.is_leaf and parameter.requires_grad and parameter not in self._hooked:
            self._hooked[parameter] = True
            is_plain = type(parameter) is nn.Parameter
            parameter.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
                library().label_gradient_of if is_plain else label_gradient
            )


def label_gradient(parameter: torch.Tensor) -> None:
    """Of a parameter that is a tensor of another kind: sharded, or wrapped."""
    label(parameter.grad, "Gradient")
