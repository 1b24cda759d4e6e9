"""Names of modules: the class of the root, then attribute names, as in `Net.layers.0.attn`."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from torch import nn

from tidemark.root_names import RootNames


class ModuleNames:
    """Gives every module one name; a module in two places has the name of the later one."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._visited: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
        self._roots = RootNames()

    def find(self, module: nn.Module) -> str | None:
        return self._names.get(module)

    def name_of(self, module: nn.Module) -> str:
        """The module's name; names it and everything below it on the first visit."""
        name = self._names.get(module)
        if name is None:
            name = self._names[module] = self._roots.new_name(module)
        if self._visited.get(module) != name:
            self._name_children(module, name)
        return name

    def _name_children(self, module: nn.Module, name: str) -> None:
        self._visited[module] = name
        for child_name, child in module.named_children():
            path = f"{name}.{child_name}"
            self._names[child] = path
            if self._visited.get(child) != path:
                self._name_children(child, path)
