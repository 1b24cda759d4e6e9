"""The names of modules: one rule for estimates and for live runs.

A root is named by its class; where that says nothing (a class of torch's own, a second root of one
class) by what the program calls it: `Agent.actor`, `critic`; else by class and number: `Linear#2`.
Below it come the attributes' names. Wrappers take no level: what they wrap has their place.
"""

from __future__ import annotations

import gc
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
# So many roots are looked for among all objects there are, which takes milliseconds.
_MOST_LOOKED_FOR = 64
_OWN_FOLDERS = (dirname(torch.__file__), dirname(__file__))


def wrapped_by(module: nn.Module) -> nn.Module | None:
    """What a wrapper of torch's wraps; none for any other module."""
    plain = own_class(module)
    attribute = _WRAPPED.get(plain.__name__)
    if attribute is None or not plain.__module__.startswith("torch."):
        return None
    return module._modules.get(attribute)


def own_class(module: nn.Module) -> type:
    """As the program has written it: FSDP2 and its like put a class of their own before it."""
    found = type(module)
    while (len(found.__bases__) == 2 and found.__bases__[0].__module__.startswith("torch.distributed.")
           and found.__name__.endswith(found.__bases__[1].__name__)):
        found = found.__bases__[1]
    return found


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
        self._looked_for = 0

    def name_of(self, root: nn.Module) -> str:
        root = unwrapped(root)
        known = self._names.get(root)
        if known is None:
            known = self._names[root] = self._new_name(root)
            self._holders[known] = ref(root)
        return known

    def _new_name(self, root: nn.Module) -> str:
        by_class = own_class(root).__name__
        says_nothing = own_class(root).__module__.startswith("torch.")
        if (says_nothing or not self._is_free(by_class)) and self._looked_for < _MOST_LOOKED_FOR:
            self._looked_for += 1
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
    """What the program calls it: a variable of the script or module that is running, or an attribute
    of somebody; empty if neither is known."""
    for variables in _variables_of_callers():
        for variable, value in variables:
            if isinstance(value, nn.Module) and unwrapped(value) is module:
                return variable
    owners = [f"{type(owner).__name__}.{name}" for owner, name in _owners_of(module)]
    return owners[0] if len(owners) == 1 else ""


def _variables_of_callers() -> Iterator[list[tuple[str, Any]]]:
    """Of those that keep them in a dictionary. Before Python 3.13 a look at a function's variables
    makes a copy that keeps them alive: the program would no longer be what it was."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        is_own = frame.f_code.co_filename.startswith(_OWN_FOLDERS)
        if not is_own and (sys.version_info >= (3, 13) or frame.f_code.co_name == "<module>"):
            yield list(frame.f_locals.items())
        frame = frame.f_back


def _owners_of(module: nn.Module) -> Iterator[tuple[Any, str]]:
    """Who has it as an attribute, by itself or in a wrapper."""
    for owner in _objects_above(module, 3):
        if isinstance(owner, nn.Module) and wrapped_by(owner) is module:
            yield from _owners_of(owner)
            continue
        table = owner._modules if isinstance(owner, nn.Module) else getattr(owner, "__dict__", {})
        for name, value in list(table.items()):
            if value is module:
                yield owner, name


def _objects_above(held: Any, dictionaries: int) -> Iterator[Any]:
    """Who refers to it, by itself or through dictionaries: a module has its children in one, and that
    in the one of its attributes."""
    for holder in gc.get_referrers(held):
        if isinstance(holder, dict):
            if dictionaries > 0:
                yield from _objects_above(holder, dictionaries - 1)
        elif not isinstance(holder, (list, tuple, FrameType, ModuleType, type)):
            yield holder
