"""The names that PyTorch's trackers give: `Net.layers.0.attn`, wrappers and all."""

from __future__ import annotations

from collections import Counter
from weakref import WeakKeyDictionary

from torch import nn


class PyTorchNames:
    """Gives every module one name; a module in two places has the name of the later one."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._visited: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._roots: Counter[str] = Counter()  # by class

    def find(self, module: nn.Module) -> str | None:
        return self._names.get(module)

    def name_of(self, module: nn.Module) -> str:
        """The module's name; names it and everything below it on the first visit."""
        name = self._names.get(module)
        if name is None:
            name = self._names[module] = self._root_name(type(module).__name__)
        if self._visited.get(module) != name:
            self._name_children(module, name)
        return name

    def _root_name(self, kind: str) -> str:
        self._roots[kind] += 1
        return kind if self._roots[kind] == 1 else f"{kind}#{self._roots[kind]}"

    def _name_children(self, module: nn.Module, name: str) -> None:
        self._visited[module] = name
        for child_name, child in module.named_children():
            path = f"{name}.{child_name}"
            self._names[child] = path
            if self._visited.get(child) != path:
                self._name_children(child, path)
