"""Acts on a module as soon as the program has imported it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from tidemark.virtual_cuda.patches import Patches

Act = Callable[[ModuleType], None]


def when_imported(patches: Patches, name: str, act: Act) -> None:
    """At once where it is there already."""
    if name in sys.modules:
        act(sys.modules[name])
        return
    finder = _Finder(name, act)
    sys.meta_path.insert(0, finder)
    patches.call_afterwards(finder.leave)


class _Finder(MetaPathFinder):
    def __init__(self, name: str, act: Act) -> None:
        self._name, self._act = name, act

    def leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        self.leave()
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_act(module: ModuleType) -> None:
                execute(module)
                self._act(module)

            spec.loader.exec_module = execute_and_act  # type: ignore[method-assign]
        return spec
