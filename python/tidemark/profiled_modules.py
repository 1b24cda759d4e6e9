"""The names of the modules that a profile saw called, found among the objects that are alive."""

from __future__ import annotations

import gc
from collections.abc import Iterable

from torch import nn

from tidemark.module_names import ModuleNames, wrapped_by


def module_paths(called: list[tuple[int, str]], roots: Iterable[nn.Module]) -> dict[int, str]:
    """By the address of a module: its path; empty where it takes no level.

    `called` has addresses and names of classes in the order of first calls. A module that is not
    inside of one before it is a root, as for `tidemark.track`; `roots` are before all. Modules that
    have died by now have no path.
    """
    names = ModuleNames()
    for root in roots:
        names.name_of(root)
    alive = _modules_at({address for address, _ in called})
    paths: dict[int, str] = {}
    for address, class_name in called:
        module = alive.get(address)
        # Something else may have taken the address of a module that died.
        if module is not None and type(module).__name__ == class_name:
            path = names.name_of(module)
            paths[address] = "" if _takes_no_level(module) else path
    return paths


def _takes_no_level(module: nn.Module) -> bool:
    """A wrapper; but not that of a compiled module, which is called in place of the one inside."""
    return wrapped_by(module) is not None and not hasattr(module, "_orig_mod")


def _modules_at(addresses: set[int]) -> dict[int, nn.Module]:
    """Asks for types only: an object may answer `isinstance` with code of its own."""
    if not addresses:
        return {}
    return {
        id(one): one
        for one in gc.get_objects()
        if id(one) in addresses and issubclass(type(one), nn.Module)
    }
