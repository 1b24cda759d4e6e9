"""Follows module calls: names them, and labels what modules own and are given.

Each call goes through C++; Python runs when a module is met for the first time, and for the inputs
of outermost calls.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils.weak import WeakIdKeyDictionary

from tidemark.estimation.labels import ShardedLabels, label, label_tensors
from tidemark.estimation.rank_classes import ShardedTensors
from tidemark.lazy_parameters import LazyParameters
from tidemark.module_copies import ModuleCopies
from tidemark.module_names import ModuleNames, wrapped_by
from tidemark.sharding.sharded_memory import ShardedMemory
from tidemark.sharding.sharded_parameters import kind_of
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

NO_SCOPE = -1  # of a module whose calls are not followed


class ModuleCalls:
    """Watches every module; the outermost one that is called gives its tree the names."""

    def __init__(self) -> None:
        self._names = ModuleNames()
        self._hooked = WeakIdKeyDictionary()  # parameters
        self._patches = Patches()
        self._copies = ModuleCopies()
        self._lazy = LazyParameters()
        self._named: weakref.WeakKeyDictionary[nn.Module, str] = weakref.WeakKeyDictionary()
        self._sharded = ShardedMemory(ShardedLabels(self._named.get))
        self.shards = ShardedTensors()

    def watch(self) -> None:
        library().watch_modules(self._name_tree, self._take_inputs)
        watched = library().watched_module_call(nn.Module._call_impl)
        self._patches.set(nn.Module, "_call_impl", watched)
        self._copies.start()
        self._lazy.start()

    def stop(self) -> None:
        self._sharded.stop()
        self._copies.stop()
        self._lazy.stop()
        self._patches.restore()
        library().unwatch_modules()

    def label_copies(self) -> None:
        """Copies that are not called: whoever keeps them, they are no parameters of the training."""
        for root in self._copies.take_new(self._named.__contains__):
            for path, module in self._names.name_tree(root):
                scope = library().scope(path)
                own = [*module.parameters(recurse=False), *module.buffers(recurse=False)]
                label(own, "Other", scope)

    @staticmethod
    def _take_inputs(inputs: Any) -> None:
        label_tensors(inputs, library().label_input)

    def _name_tree(self, root: nn.Module) -> None:
        """Names every module below, anew where it was a root of its own before."""
        self._sharded.meet(root)
        for path, module in self._names.name_tree(root):
            scope = library().scope(path)
            self._named[module] = path
            library().remember_module(module, NO_SCOPE if wrapped_by(module) else scope)
            weakref.finalize(module, library().forget_module, id(module)).atexit = False
            self._label_own(module, scope)
        self.label_copies()

    def _label_own(self, module: nn.Module, scope: int) -> None:
        def take_parameter(parameter: Any) -> None:
            label(parameter, f"{kind_of(parameter)}Parameter", scope)
            self.shards.meet(parameter)
            self._hook(parameter)

        def take_buffer(buffer: torch.Tensor) -> None:
            label(buffer, "Buffer", scope)

        for tensors, take in ((module.parameters(recurse=False), take_parameter),
                              (module.buffers(recurse=False), take_buffer)):
            for tensor in tensors:
                if is_lazy(tensor):
                    self._lazy.put_off(tensor, take)
                else:
                    take(tensor)

    def _hook(self, parameter: nn.Parameter) -> None:
        """Gradients of plain parameters are known as such where they arise, those of FSDP2's are told;
        those of wrapped ones are labelled here, as soon as they are there."""
        if type(parameter) is nn.Parameter or parameter in self._hooked or kind_of(parameter):
            return
        if parameter.is_leaf and parameter.requires_grad:
            self._hooked[parameter] = True
            parameter.register_post_accumulate_grad_hook(label_gradient)  # type: ignore[no-untyped-call]


def label_gradient(parameter: torch.Tensor) -> None:
    label(parameter.grad, "Gradient")
