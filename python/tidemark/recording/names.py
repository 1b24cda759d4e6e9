"""Names of modules: the class of the root, then attribute names, as in `Net.layers.0.attn`."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from torch import nn


class ModuleNames:
    """Gives every module one name; a module in two places has the name of the later one.

    A root of a class that another root has already is told apart by a number: `Linear`, `Linear#2`.
    """

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._visited: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._roots: dict[str, int] = {}

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

    def _root_name(self, class_name: str) -> str:
        count = self._roots[class_name] = self._roots.get(class_name, 0) + 1
        return class_name if count == 1 else f"{class_name}#{count}"

    def _name_children(self, module: nn.Module, name: str) -> None:
        self._visited[module] = name
        for child_name, child in module.named_children():
            path = f"{name}.{child_name}"
            self._names[child] = path
            if self._visited.get(child) != path:
                self._name_children(child, path)
