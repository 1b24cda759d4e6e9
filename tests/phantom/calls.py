"""One operator call, described once and run anywhere: on CPU tensors and on phantoms of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map


@dataclass
class Call:
    """`operator` names what it is about (the key of the tables), `how` tells this call apart.

    `way` tells which of the operator's functions it is, where there are several.
    """

    operator: str
    how: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    way: str = ""

    def __str__(self) -> str:
        return f"{self.operator} ({self.how})"

    def tensors(self) -> list[torch.Tensor]:
        return tensors_in((self.args, self.kwargs))


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


@dataclass(frozen=True)
class TensorFacts:
    """All that shapes, layout and aliasing say of a result."""

    sizes: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] = ()
    offset: int = 0
    storage_bytes: int = 0
    is_conj: bool = False
    is_neg: bool = False
    same_as: int = -1  # the first argument or earlier result that is this very tensor
    shares_with: int = -1  # the first that has its storage


@dataclass(frozen=True)
class Outcome:
    results: tuple[Any, ...] = ()
    arguments: tuple[Any, ...] = ()  # as they are after the call
    devices: frozenset[str] = frozenset()
    error: str = ""


class Place:
    """Where a call is made: gives tensors their like there, each storage and each tensor once."""

    def __init__(self, device: str, known: bool = True) -> None:
        self.device = device
        self._known = known
        self._storages: dict[int, torch.UntypedStorage] = {}
        self._tensors: dict[int, torch.Tensor] = {}

    def __call__(self, value: Any) -> Any:
        """The value itself, but for tensors and devices."""
        if isinstance(value, torch.device) or value == "cpu" and isinstance(value, str):
            return self.device
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return value
        if id(value) not in self._tensors:
            self._tensors[id(value)] = self._like(value)
        return self._tensors[id(value)]

    def _like(self, tensor: torch.Tensor) -> torch.Tensor:
        made = torch.empty(0, dtype=tensor.dtype, device=self.device)
        made.set_(self._storage(tensor), tensor.storage_offset(), tensor.size(), tensor.stride())
        if tensor.is_conj():
            made = torch._conj(made)
        if tensor.is_neg():
            made = torch._neg_view(made)
        return made.requires_grad_(tensor.requires_grad)

    def _storage(self, tensor: torch.Tensor) -> torch.UntypedStorage:
        storage = tensor.untyped_storage()
        if storage._cdata not in self._storages:
            content = torch.empty(0, dtype=torch.uint8).set_(storage)
            copy = torch.empty_like(content, device=self.device)
            copy = copy.copy_(content) if self._known else copy
            self._storages[storage._cdata] = copy.untyped_storage()
        return self._storages[storage._cdata]


def run(call: Call, place: Place) -> Outcome:
    """Makes the call at that place and describes what came of it."""
    args, kwargs = tree_map(place, call.args), tree_map(place, call.kwargs)
    given = tensors_in((args, kwargs))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            returned = call.function(*args, **kwargs)
    except Exception as error:  # whatever an operator raises is an outcome
        # Later lines of a message may show values.
        return Outcome(error=f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return describe(given, returned)


def describe(given: list[torch.Tensor], returned: Any) -> Outcome:
    seen = list(given)
    results = []
    for value in tree_leaves(returned):
        if isinstance(value, torch.Tensor):
            results.append(facts_of(value, seen))
            seen.append(value)
        else:
            results.append(value if isinstance(value, (int, str)) else type(value).__name__)
    devices = frozenset(tensor.device.type for tensor in seen[len(given) :])
    return Outcome(tuple(results), tuple(facts_of(tensor, []) for tensor in given), devices)


def facts_of(tensor: torch.Tensor, seen: list[torch.Tensor]) -> TensorFacts:
    if tensor.layout != torch.strided:
        return TensorFacts(tuple(tensor.shape), f"{tensor.dtype} {tensor.layout}")

    def first(is_it: Callable[[torch.Tensor], bool]) -> int:
        return next((i for i, other in enumerate(seen) if is_it(other)), -1)

    storage = tensor.untyped_storage()
    return TensorFacts(
        tuple(tensor.shape), str(tensor.dtype), tensor.stride(), tensor.storage_offset(),
        storage.nbytes(), tensor.is_conj(), tensor.is_neg(),
        first(lambda other: other is tensor),
        first(lambda other: other.layout == torch.strided
              and other.untyped_storage()._cdata == storage._cdata),
    )
