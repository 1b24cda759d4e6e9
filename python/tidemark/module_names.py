"""The names of modules: one rule for estimates and for live runs.

A root is named by its class; where that says nothing (a class of torch's own, a second root of one
class) by what the program calls it: `Agent.actor`, `critic`; else by class and number: `Linear#2`.
Below it come the attributes' names. Wrappers take no level: what they wrap has their place.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from os.path import dirname
from types import FrameType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary, ref

import torch
from torch import nn

# Modules of torch that only call another, by class: where they keep it.
_WRAPPED = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "OptimizedModule": "_orig_mod",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "OffloadWrapper": "_checkpoint_wrapped_module",
}
# So many calls outwards somebody is asked what they call the module.
_FRAMES_ASKED = 8
_OWN_FOLDERS = (dirname(torch.__file__), dirname(__file__))


def wrapped_by(module: nn.Module) -> nn.Module | None:
    """What a wrapper of torch's wraps; none for any other module."""
    attribute = _WRAPPED.get(type(module).__name__)
    if attribute is None or not type(module).__module__.startswith("torch."):
        return None
    return module._modules.get(attribute)


def unwrapped(module: nn.Module) -> nn.Module:
    inner = wrapped_by(module)
    return module if inner is None else unwrapped(inner)


def named_tree(root: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """The module and all below with their names; each once, wrappers under the name of what they
    wrap and before it."""
    visited: set[int] = set()
    waiting = [(name, root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in visited:
            continue
        visited.add(id(module))
        yield path, module
        inner = wrapped_by(module)
        waiting.extend(reversed([
            (path if child is inner else f"{path}.{child_name}", child)
            for child_name, child in module.named_children()
        ]))


class ModuleNames:
    """Names of whole trees, given when the outermost module is met; later trees rename."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._roots = RootNames()

    def find(self, module: nn.Module) -> str | None:
        return self._names.get(module)

    def name_of(self, module: nn.Module) -> str:
        """The module's name; where it has none it is a root, and all below get theirs."""
        if module not in self._names:
            for path, one in self.name_tree(module):
                self._names[one] = path
        return self._names[module]

    def name_tree(self, root: nn.Module) -> Iterator[tuple[str, nn.Module]]:
        return named_tree(root, self._roots.name_of(root))


class RootNames:
    """Gives every root one name; that of a dead one is given again."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._holders: dict[str, ref[nn.Module]] = {}

    def name_of(self, root: nn.Module) -> str:
        root = unwrapped(root)
        known = self._names.get(root)
        if known is None:
            known = self._names[root] = self._new_name(root)
            self._holders[known] = ref(root)
        return known

    def _new_name(self, root: nn.Module) -> str:
        by_class = type(root).__name__
        says_nothing = type(root).__module__.startswith("torch.")
        if says_nothing or not self._is_free(by_class):
            by_class = name_in_program(root) or by_class
        name, number = by_class, 1
        while not self._is_free(name):
            number += 1
            name = f"{by_class}#{number}"
        return name

    def _is_free(self, name: str) -> bool:
        holder = self._holders.get(name)
        return holder is None or holder() is None


def name_in_program(module: nn.Module) -> str:
    """What the code that calls it calls it, from the innermost outwards; empty if nobody says."""
    frame: FrameType | None = sys._getframe(1)
    asked = 0
    while frame is not None and asked < _FRAMES_ASKED:
        if not frame.f_code.co_filename.startswith(_OWN_FOLDERS):
            asked += 1
            name = _name_in(frame, module)
            if name:
                return name
        frame = frame.f_back
    return ""


def _name_in(frame: FrameType, module: nn.Module) -> str:
    variables = list(frame.f_locals.items())
    for variable, value in variables:
        if variable in ("self", "cls"):
            attribute = _attribute_of(value, module)
            if attribute:
                return attribute
    for variable, value in variables:
        if value is module or (isinstance(value, nn.Module) and unwrapped(value) is module):
            return variable
    for variable, value in variables:
        if variable not in ("self", "cls") and not isinstance(value, (ModuleType, type)):
            attribute = _attribute_of(value, module)
            if attribute:
                return attribute
    return ""


def _attribute_of(owner: Any, module: nn.Module) -> str:
    attributes = getattr(owner, "__dict__", None)
    if not isinstance(attributes, dict):
        return ""
    children = attributes.get("_modules") if isinstance(owner, nn.Module) else None
    for table in (attributes, children or {}):
        for name, value in list(table.items()):
            if value is module:
                return f"{type(owner).__name__}.{name}"
    return ""
