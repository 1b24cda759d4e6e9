"""Events, sizes and data flow of a profile: views of what C++ found, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch._C._profiler import RecordScope, _EventType, _ProfilerEvent, _TensorMetadata

from tidemark import _profile
from tidemark.compat.profile_keys import Key, TensorKey, _Storage


def _key_of(parts: tuple[int, int, int, str]) -> TensorKey:
    tensor_id, allocation_id, address, device = parts
    return TensorKey(torch.device(device), tensor_id, _Storage(address, allocation_id))


def extract_parameters(node: _ProfilerEvent) -> Iterator[TensorKey]:
    """Parameters that a module's or an optimizer's call shows."""
    for parameter, _ in _profile.parameters_and_gradients(node):
        if parameter is not None:
            yield _key_of(parameter)


def extract_gradients(node: _ProfilerEvent) -> Iterator[tuple[TensorKey | None, TensorKey]]:
    """Gradients that an event shows, each with its parameter where that is known."""
    for parameter, gradient in _profile.parameters_and_gradients(node):
        if gradient is not None:
            yield parameter and _key_of(parameter), _key_of(gradient)


def get_scopes(event: _ProfilerEvent | None) -> tuple[RecordScope, ...]:
    """The scopes of the event and of all operators above it, innermost first."""
    scopes: list[RecordScope] = []
    fields: Any  # its type goes by the kind
    while event:
        kind, fields = event.typed
        if kind == _EventType.TorchOp:
            scopes.append(fields.scope)
        event = event.parent
    return tuple(scopes)


class SchemaMatcher:
    """Which overloads a recorded operator can have been: its name says none."""

    @classmethod
    def inputs_are_mutable(cls, t: Any) -> tuple[bool | None, ...]:
        """By input: whether an overload that fits writes it; None where none fits."""
        written: tuple[bool, ...] | None = None
        for schema in cls.match_schemas(t):
            here = tuple(bool(a.alias_info and a.alias_info.is_write) for a in schema.arguments)
            written = tuple(map(max, written, here)) if written else here
        return written or (None,) * len(t.inputs)

    @classmethod
    def match_schemas(cls, t: Any) -> tuple[torch._C.FunctionSchema, ...]:
        """The overloads that fit what was recorded of the arguments."""
        schemas = cls.lookup_schemas(t.name) or ()
        return tuple(schemas[number] for number in _profile.fitting_overloads(t) if schemas)

    @staticmethod
    def lookup_schemas(name: str) -> tuple[torch._C.FunctionSchema, ...] | None:
        """All overloads of a name; None for what cannot be an operator."""
        try:
            found = torch._C._jit_get_schemas_for_operator(name) if "::" in name else None
        except RuntimeError:
            return None
        return found if found is None else tuple(found)


class OpTree:
    """The events of a finished profile."""

    def __init__(self, result: Any) -> None:
        self._result = result

    @cached_property
    def _profile(self) -> _profile.Profile:
        return _profile.analyse(self._result)

    @cached_property
    def _root_nodes(self) -> list[_ProfilerEvent]:
        return self._result.experimental_event_tree()  # type: ignore[no-any-return]

    @cached_property
    def _keys(self) -> list[TensorKey]:
        return [_key_of(parts) for parts in self._profile.keys()]

    @cached_property
    def _device_keys(self) -> list[Key]:
        return [Key(torch.device(device)) for device in self._profile.devices()]

    def dfs(
        self, children_fn: Callable[[_ProfilerEvent], Any] = lambda event: event.children
    ) -> Iterator[_ProfilerEvent]:
        """Every event, then what is below it."""
        waiting = list(reversed(self._root_nodes))
        while waiting:
            event = waiting.pop()
            yield event
            waiting.extend(reversed(children_fn(event)))

    @cached_property
    def sorted_nodes(self) -> tuple[_ProfilerEvent, ...]:
        """All events by their start."""
        return self._profile.sorted_events()


class SizeMap:
    """Bytes of storages: what was allocated, else what the largest tensor on it reaches."""

    def __init__(self, op_tree: OpTree) -> None:
        self._op_tree = op_tree

    @cached_property
    def _values(self) -> dict[TensorKey, int]:
        sizes = self._op_tree._profile.sizes()
        return {key: size for key, size in zip(self._op_tree._keys, sizes) if size is not None}

    def __getitem__(self, key: TensorKey) -> int:
        return self._values[key]

    @staticmethod
    def _flat_tensor_inputs(op: Any) -> Iterator[_TensorMetadata]:
        for one in op.inputs:
            if isinstance(one, _TensorMetadata):
                yield one
            elif isinstance(one, list):
                yield from one


@dataclass
class DataFlowEdge:
    """What a node does to a storage: no version for one that it allocates, and for `mutated` None
    where it frees it."""

    input_version: int | None = None
    mutated: bool | None = False

    @property
    def is_allocation(self) -> bool:
        return self.input_version is None

    @property
    def is_deletion(self) -> bool:
        return self.mutated is None


class DataFlowNode:
    """An outermost operator, an allocation or a free."""

    def __init__(self, number: int, graph: DataFlowGraph) -> None:
        self._number = number
        self._graph = graph

    @cached_property
    def _event(self) -> _ProfilerEvent:
        return self._graph._op_tree._profile.node_event(self._number)

    @cached_property
    def _edges(self) -> dict[TensorKey, DataFlowEdge]:
        tree = self._graph._op_tree
        keys = tree._keys
        return {
            keys[key]: DataFlowEdge(version, mutated)
            for key, version, mutated in tree._profile.edges(self._number)
        }

    @property
    def inputs(self) -> dict[TensorKey, tuple[bool, int]]:
        """What it uses, with whether it writes it and the version before."""
        return {
            key: (bool(edge.mutated), edge.input_version)
            for key, edge in self._edges.items()
            if edge.input_version is not None
        }

    @property
    def outputs(self) -> dict[TensorKey, int]:
        """What it makes or writes, with the version after."""
        return {
            key: 0 if edge.input_version is None else edge.input_version + 1
            for key, edge in self._edges.items()
            if edge.mutated or (edge.is_allocation and not edge.is_deletion)
        }

    @property
    def intermediates(self) -> tuple[TensorKey, ...]:
        """What it both makes and frees."""
        edges = self._edges.items()
        return tuple(key for key, edge in edges if edge.is_allocation and edge.is_deletion)

    @property
    def start_time(self) -> int:
        return self._event.start_time_ns


class DataFlowGraph:
    """The nodes of a profile in the order of time."""

    def __init__(self, op_tree: OpTree) -> None:
        self._op_tree = op_tree

    @cached_property
    def flow_nodes(self) -> tuple[DataFlowNode, ...]:
        return tuple(DataFlowNode(n, self) for n in range(self._op_tree._profile.node_count()))

    @cached_property
    def leaf_events(self) -> tuple[_ProfilerEvent, ...]:
        return tuple(node._event for node in self.flow_nodes)

    @property
    def _flow_nodes(self) -> list[DataFlowNode]:
        return list(self.flow_nodes)

    @cached_property
    def _active_version(self) -> dict[TensorKey, int | None]:
        """The last version of everything that a node used or freed."""
        versions: dict[TensorKey, int | None] = {}
        for node in self.flow_nodes:
            versions.update((key, version) for key, (_, version) in node.inputs.items())
            versions.update(node.outputs)
        return versions

    def lookup(self, key: TensorKey) -> int:
        """The present version of a storage."""
        version = self._active_version.setdefault(key, 0)
        if version is None:
            raise AssertionError(f"already deleted: {key}")
        return version

    def bump(self, key: TensorKey) -> None:
        """Begins the next version."""
        if self._active_version.get(key) is None:
            raise AssertionError(f"no version to follow: {key}")
        self._active_version[key] = self.lookup(key) + 1

    def delete(self, key: TensorKey) -> None:
        """Ends the last version."""
        self.lookup(key)
        self._active_version[key] = None

    def validate(self) -> None:
        """Raises AssertionError where versions contradict each other."""
        odd = {"double-delete", "born-again", "old-version", "made-twice"}
        for code, _, count, message in self._op_tree._profile.problems():
            if code in odd:
                raise AssertionError(f"{message} ({code}, {count})")
