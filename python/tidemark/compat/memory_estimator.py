"""PyTorch's FX memory estimator (torch._inductor.fx_passes.memory_estimator) in C++.

The same names, answers and exceptions. One difference: get_fwd_bwd_interactions and
get_peak_memory work. The maps of GraphAliasTracker are made when they are first read.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import torch.fx as fx
from torch.fx.experimental.symbolic_shapes import optimization_hint

import tidemark._engine  # noqa: F401  (its types are used by _graph)
from tidemark.torch_match import check_torch, load_extension

check_torch("memory_estimator")
from torch._subclasses import FakeTensor  # noqa: E402
from torch.utils._ordered_set import OrderedSet  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

load_extension("_graph")
from tidemark import _graph  # noqa: E402

log = logging.getLogger(__name__)

IsReleasable = Callable[[fx.Node], bool]
SizeOf = Callable[[int | torch.SymInt], int]


@dataclass(frozen=True, eq=False)
class StorageKey:
    """A storage on a device: equal when it is the same storage object and the same device."""

    storage: torch.UntypedStorage
    device: torch.device

    def __hash__(self) -> int:
        return int(self.storage._cdata)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StorageKey)
            and self.storage._cdata == other.storage._cdata
            and self.device == other.device
        )


def _key_of(tensor: torch.Tensor) -> StorageKey:
    return StorageKey(tensor.untyped_storage(), tensor.device)


class GraphAliasTracker:
    """Who allocates which storage and who uses it, in the order of the list."""

    def __init__(self, nodes: list[fx.Node]) -> None:
        self._begin(list(nodes), _graph.read(list(nodes), sizes=False))

    @classmethod
    def _of(cls, nodes: list[fx.Node], read: _graph.ReadGraph) -> GraphAliasTracker:
        tracker = cls.__new__(cls)
        tracker._begin(nodes, read)
        return tracker

    def _begin(self, nodes: list[fx.Node], read: _graph.ReadGraph) -> None:
        self._nodes = nodes
        self._read = read
        self._keys: dict[int, StorageKey] = {}
        self._sets: dict[tuple[str, fx.Node], OrderedSet[StorageKey]] = {}

    def _key(self, storage: int) -> StorageKey:
        key = self._keys.get(storage)
        if key is None:
            key = self._keys[storage] = _key_of(self._read.tensor(storage))
        return key

    def _keys_of(self, what: str, node: fx.Node) -> OrderedSet[StorageKey]:
        """One of a node's sets; always the same object."""
        found = self._sets.get((what, node))
        if found is None:
            numbers = getattr(self._read, what)(node)
            found = self._sets[what, node] = OrderedSet(self._key(s) for s in numbers)
        return found

    def get_fresh_allocations(self, node: fx.Node) -> OrderedSet[StorageKey]:
        """Storages that this node is the first to return."""
        return self._keys_of("fresh", node)

    def get_storage_uses(self, node: fx.Node) -> OrderedSet[StorageKey]:
        """Storages of this node's inputs."""
        return self._keys_of("uses", node)

    def get_storages_last_used(self, node: fx.Node) -> OrderedSet[StorageKey]:
        """Storages that no later node uses."""
        return self.node_to_storages_last_used[node]

    @staticmethod
    def _get_output_storages(node: fx.Node) -> OrderedSet[StorageKey]:
        value = node.meta.get("val")
        if value is None:
            return OrderedSet()
        leaves = tree_leaves(value)
        return OrderedSet(_key_of(leaf) for leaf in leaves if isinstance(leaf, FakeTensor))

    def _get_input_storages(self, node: fx.Node) -> OrderedSet[StorageKey]:
        storages: OrderedSet[StorageKey] = OrderedSet()
        for source in node.all_input_nodes:
            storages.update(self._keys_of("outputs", source))
        return storages

    @cached_property
    def node_to_fresh_allocations(self) -> dict[fx.Node, OrderedSet[StorageKey]]:
        return {node: self._keys_of("fresh", node) for node in self._nodes}

    @cached_property
    def node_to_storage_uses(self) -> dict[fx.Node, OrderedSet[StorageKey]]:
        return {node: self._keys_of("uses", node) for node in self._nodes}

    @cached_property
    def node_to_output_storages(self) -> dict[fx.Node, OrderedSet[StorageKey]]:
        return {node: self._keys_of("outputs", node) for node in self._nodes}

    @cached_property
    def storage_to_allocator(self) -> dict[StorageKey, fx.Node]:
        count = self._read.storage_count()
        return {self._key(s): self._read.allocator(s) for s in range(count)}

    @cached_property
    def storage_to_uses(self) -> dict[StorageKey, OrderedSet[fx.Node]]:
        users: dict[StorageKey, OrderedSet[fx.Node]] = defaultdict(OrderedSet)
        for node in self._nodes:
            for storage in self._read.uses(node):
                users[self._key(storage)].add(node)
        return users

    @cached_property
    def storage_to_last_user(self) -> dict[StorageKey, fx.Node]:
        found: dict[StorageKey, fx.Node] = {}
        for node in reversed(self._nodes):
            for storage in self._read.last_uses(node):
                found[self._key(storage)] = node
        return found

    @cached_property
    def node_to_storages_last_used(self) -> dict[fx.Node, OrderedSet[StorageKey]]:
        found: dict[fx.Node, OrderedSet[StorageKey]] = defaultdict(OrderedSet)
        for node in reversed(self._nodes):
            if storages := self._keys_of("last_uses", node):
                found[node] = storages
        return found


def _size_of_default(num_bytes: int | torch.SymInt) -> int:
    return optimization_hint(num_bytes)


def device_filter(device: torch.device) -> bool:
    return device.type != "cpu"


def _is_releasable(n: fx.Node) -> bool:
    return not n.name.startswith("primals")


def _unless(default: object, function: Any) -> Any:
    """None for the default, which C++ knows itself."""
    return None if function is default else function


def build_memory_profile(
    graph: fx.Graph, is_releasable: IsReleasable, size_of: SizeOf | None = None
) -> list[int]:
    """Bytes before the first node, then after births and after deaths of each computing node."""
    return _graph.build_memory_profile(
        list(graph.nodes),
        _unless(_is_releasable, is_releasable),
        device_filter,
        _unless(_size_of_default, size_of),
    )


def get_fwd_bwd_interactions(
    fwd_graph: fx.Graph, bwd_graph: fx.Graph, size_of: SizeOf | None = None
) -> tuple[int, OrderedSet[str]]:
    """What the forward leaves alive all through the backward, and what that must not release."""
    sizes = _unless(_size_of_default, size_of)

    def read(graph: fx.Graph) -> _graph.ReadGraph:
        return _graph.read(list(graph.nodes), counts=_is_not_cpu, size_of=sizes)

    assert next(iter(reversed(fwd_graph.nodes))).op == "output"
    backward = read(bwd_graph)
    baseline, kept = _graph.interaction(read(fwd_graph), backward)
    return baseline, OrderedSet(backward.node(number).name for number in kept)


def get_peak_memory(fwd_graph: fx.Graph, bwd_graph: fx.Graph) -> int:
    """The highest of forward and backward, with what the one leaves for the other."""
    baseline, kept = get_fwd_bwd_interactions(fwd_graph, bwd_graph)

    def is_releasable_in_backward(node: fx.Node) -> bool:
        return _is_releasable(node) and node.name not in kept

    forward = max(build_memory_profile(fwd_graph, _is_releasable))
    return max(forward, baseline + max(build_memory_profile(bwd_graph, is_releasable_in_backward)))


def _is_not_cpu(device: torch.device) -> bool:
    return device.type != "cpu"


class MemoryTracker(_graph.Tracker):
    """Bytes alive under another order of the nodes, chosen one at a time.

    schedule_node, get_current_memory_bytes, current_memory_bytes and peak_memory are C++.
    """

    def __init__(
        self,
        graph: fx.Graph,
        is_releasable: IsReleasable | None = None,
        device_filter: Callable[[torch.device], bool] | None = None,
    ) -> None:
        self.graph = graph
        self.nodes = list(graph.nodes)
        self.device_filter = device_filter or _is_not_cpu
        self.is_releasable = is_releasable or _is_releasable
        self._read = _graph.read(self.nodes, counts=self.device_filter)
        super().__init__(self._read, _unless(_is_releasable, self.is_releasable))
        log.debug("tracking starts at %d bytes", self.current_memory_bytes)

    @cached_property
    def alias_tracker(self) -> GraphAliasTracker:
        return GraphAliasTracker._of(self.nodes, self._read)

    @property
    def scheduled(self) -> OrderedSet[fx.Node]:
        """A new set at each reading."""
        return OrderedSet(self._read.node(number) for number in self._order())

    @property
    def current_live_storages(self) -> OrderedSet[StorageKey]:
        """A new set at each reading, in the order in which they came to life."""
        return OrderedSet(self.alias_tracker._key(number) for number in self._alive())

    def _get_storage_size(self, storage_key: StorageKey) -> int:
        return optimization_hint(storage_key.storage.nbytes())
