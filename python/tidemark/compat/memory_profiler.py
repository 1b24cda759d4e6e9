"""PyTorch's memory profile (torch.profiler._memory_profiler) in C++.

The same names and answers. Objects are made when they are asked for, from one analysis of the
finished profile. Where PyTorch gives up with an AssertionError there is an answer and a warning.
"""

from __future__ import annotations

import logging
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

import tidemark._engine  # noqa: F401  (its types are used by _profile)
from tidemark.torch_match import check_torch, load_extension

check_torch("memory_profiler")
load_extension("_profile")

from tidemark.compat.profile_export import MemoryProfileTimeline  # noqa: E402
from tidemark.compat.profile_flow import (  # noqa: E402
    DataFlowEdge,
    DataFlowGraph,
    DataFlowNode,
    OpTree,
    SchemaMatcher,
    SizeMap,
    extract_gradients,
    extract_parameters,
    get_scopes,
)
from tidemark.compat.profile_keys import (  # noqa: E402
    _ACTION_TO_INDEX,
    _CATEGORY_TO_COLORS,
    _CATEGORY_TO_INDEX,
    Action,
    Category,
    Key,
    TensorKey,
    _Storage,
)

__all__ = [
    "Action", "Category", "CategoryDict", "CategoryElement", "DataFlowEdge", "DataFlowGraph",
    "DataFlowNode", "Key", "KeyAndID", "MemoryProfile", "MemoryProfileTimeline", "OpTree",
    "SchemaMatcher", "SizeMap", "TensorAndID", "TensorKey", "_ACTION_TO_INDEX",
    "_CATEGORY_TO_COLORS", "_CATEGORY_TO_INDEX", "_Storage", "extract_gradients",
    "extract_parameters", "get_scopes", "install",
]  # fmt: skip

KeyAndID = tuple[Key, int]
TensorAndID = tuple[TensorKey, int]
log = logging.getLogger(__name__)


def install() -> None:
    """Takes the original's place: `prof._memory_profile()`, `prof.export_memory_timeline` and
    `torch.cuda._memory_viz.profile_plot` run on this module, for the rest of the process."""
    import torch.profiler.profiler as profiler

    caller: Any = profiler  # to its types, no other classes can be there
    ours = sys.modules[__name__]
    sys.modules["torch.profiler._memory_profiler"] = torch.profiler._memory_profiler = ours
    caller.MemoryProfile, caller.MemoryProfileTimeline = MemoryProfile, MemoryProfileTimeline


@dataclass
class CategoryElement:
    """What is known of one tensor: of all of it, of its storages, of their versions."""

    by_id: Category | None = None
    by_key: dict[TensorKey, Category] = field(default_factory=dict)
    by_version: dict[TensorAndID, Category] = field(default_factory=dict)
    _by_id_keyset: set[TensorKey] = field(default_factory=set)


@dataclass
class CategoryDict:
    """The categories of tensors, by their ids."""

    _values: defaultdict[int, CategoryElement] = field(
        default_factory=lambda: defaultdict(CategoryElement)
    )

    def set_by_id(self, key: TensorKey, category: Category) -> None:
        element = self._values[key.id]
        element.by_id = category
        element._by_id_keyset.add(key)

    def set_by_key(self, key: TensorKey, category: Category) -> None:
        self._values[key.id].by_key[key] = category

    def set_by_version(self, key: TensorKey, version: int, category: Category) -> None:
        self._values[key.id].by_version[key, version] = category

    def setdefault_by_version(self, key: TensorKey, version: int, category: Category) -> None:
        self._values[key.id].by_version.setdefault((key, version), category)

    def get(self, key: Key, version: int) -> Category | None:
        """The tensor's category, else the storage's, else the version's."""
        if not isinstance(key, TensorKey):
            return None
        known = self._values[key.id]
        return known.by_id or known.by_key.get(key) or known.by_version.get((key, version))


class MemoryProfile:
    """What the memory of a finished profile was for."""

    def __init__(self, result: Any) -> None:
        self._op_tree = OpTree(result)
        self._profile = self._op_tree._profile
        for code, severity, count, message in self._profile.problems():
            if severity != "note":
                log.warning("%s (%s, %d)", message, code, count)

    @cached_property
    def _data_flow_graph(self) -> DataFlowGraph:
        return DataFlowGraph(self._op_tree)

    @cached_property
    def _size_map(self) -> SizeMap:
        return SizeMap(self._op_tree)

    @cached_property
    def _categories(self) -> CategoryDict:
        keys = self._op_tree._keys
        found = CategoryDict()
        tensors, storages, versions = self._profile.labels()
        for _, category, named in tensors:
            for key in named:
                found.set_by_id(keys[key], Category(category))
        for key, category in storages:
            found.set_by_key(keys[key], Category(category))
        for key, version, category in versions:
            found.set_by_version(keys[key], version, Category(category))
        return found

    @cached_property
    def timeline(self) -> tuple[tuple[int, Action, KeyAndID, int], ...]:
        """(time in ns or -1, action, (key, version), bytes) of all that happened."""
        tree = self._op_tree
        actions = [None, *Action]
        return self._profile.timeline(tree._keys, tree._device_keys, actions)

    def _is_gradient(self, key: Key, version: int) -> bool:
        return self._categories.get(key, version) == Category.GRADIENT

    def _category_snapshot(self) -> dict[TensorAndID, Category | None]:
        """The category of every version that a node uses or makes, or that was named."""
        keys = self._op_tree._keys
        return {
            (keys[key], version): None if category is None else Category(category)
            for key, version, category in self._profile.snapshot()
        }

    def _any_version_depends_on_gradient(self) -> set[int]:
        """The ids of tensors that a gradient or a parameter flows into, in any version."""
        return self._profile.dependent_tensors()
