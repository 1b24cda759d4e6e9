"""Known bytes never lie: what we call known is what the CPU computes, whatever is not known.

For each call three phantoms of its arguments: all known; one assumed; one unknown. A result that
is called known must be the CPU's, and must not change when the argument that is not known does.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from calls import Call, Place
from operator_samples import SEED, choose_calls, operator_names
from torch.utils._pytree import tree_leaves, tree_map

from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import close_gpus, library, open_gpus

# What these return was never written.
UNWRITTEN = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided",
}
# Their lengths become numbers of the call: what a value decides once it has left its tensor
# (.item() too) is counted as an assumption, but cannot be followed.
NUMBERS_FROM_TENSORS = {"nn_functional_ctc_loss"}
# Given other offsets or lengths, PyTorch's CPU kernel reads past the end of its data.
FOLLOWS_ANY_OFFSET = {"_segment_reduce_offsets", "_segment_reduce_lengths"}


@dataclass
class Lies:
    """Per operator, what was wrong; and how often something was known at all."""

    found: dict[str, list[str]]
    known: Counter[str]


def certainty(tensor: torch.Tensor) -> str:
    return str(library().certainty(tensor.untyped_storage()._cdata))


def tensors_of(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def make(call: Call, place: Place) -> list[torch.Tensor] | None:
    """The results and (but for UNWRITTEN ones) the arguments after the call; none where it raises."""
    args, kwargs = tree_map(place, call.args), tree_map(place, call.kwargs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            returned = call.function(*args, **kwargs)
    except Exception:
        return None
    seen = returned if call.operator in UNWRITTEN else (returned, args, kwargs)
    return [tensor.detach() for tensor in tensors_of(seen) if tensor.layout == torch.strided]


def is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.is_floating_point() != b.is_floating_point():
        return False
    if a.is_floating_point() or a.is_complex():
        return torch.allclose(a.to(torch.complex128), b.to(torch.complex128), equal_nan=True)
    return torch.equal(a, b)


class UncertainPlace(Place):
    """Phantoms whose values are known, but for those over one storage."""

    def __init__(self, uncertain: torch.Tensor, assumed: bool) -> None:
        super().__init__("cuda")
        self._uncertain = uncertain.untyped_storage()._cdata
        self._assumed = assumed

    def _storage(self, tensor: torch.Tensor) -> torch.UntypedStorage:
        storage = tensor.untyped_storage()
        if storage._cdata == self._uncertain and storage._cdata not in self._storages:
            content = torch.empty(0, dtype=torch.uint8).set_(storage)
            phantom = torch.empty_like(content, device="cuda")
            if self._assumed:
                # What comes from an unknown phantom stays assumed on the CPU, whatever is written.
                phantom = phantom.cpu().copy_(content).cuda()
            self._storages[storage._cdata] = phantom.untyped_storage()
        return super()._storage(tensor)


def changed_values(tensor: torch.Tensor) -> torch.Tensor:
    """Other values of the same kind, over a storage of their own."""
    room = torch.empty(0, dtype=tensor.dtype).set_(
        tensor.untyped_storage().clone(), tensor.storage_offset(), tensor.size(), tensor.stride()
    )
    flat = torch.empty(0, dtype=tensor.dtype).set_(room.untyped_storage())
    elements = flat.view(torch.uint8).view(-1, flat.element_size())
    if flat.element_size() > 1 and not torch.equal(elements, elements.flip(0)):
        elements.copy_(elements.flip(0))
    else:
        elements[:, -1] ^= 1  # of a float that is its exponent
    return room.requires_grad_(tensor.requires_grad)


def check(call: Call, lies: Lies) -> None:
    real = make(call, Place("cpu"))
    other_seed = make(call, Place("cpu"))  # the generator has moved on
    phantoms = make(call, Place("cuda"))
    if real is None or other_seed is None or phantoms is None:
        return
    for result, expected, again in zip(phantoms, real, other_seed):
        if result.is_cpu or not expected.is_cpu or certainty(result) != "known":
            continue
        lies.known[call.operator] += 1
        if not is_same(result.cpu(), expected):
            lies.found[call.operator].append(f"{call}: {result.cpu()} instead of {expected}")
        elif not is_same(expected, again):
            lies.found[call.operator].append(f"{call}: calls a random result known")
        elif call.operator in UNWRITTEN and result.numel():
            lies.found[call.operator].append(f"{call}: calls known what was never written")
    check_uncertain(call, lies, real)


def check_uncertain(call: Call, lies: Lies, real: list[torch.Tensor]) -> None:
    candidates = [t for t in tensors_of((call.args, call.kwargs)) if t.layout == torch.strided]
    if not candidates or call.operator in NUMBERS_FROM_TENSORS | FOLLOWS_ANY_OFFSET:
        return
    # The same choice for the same call, whatever was tried before it.
    uncertain = random.Random(f"{SEED} {call}").choice(candidates)
    storage = uncertain.untyped_storage()._cdata

    def other(value: Any) -> Any:
        shares = isinstance(value, torch.Tensor) and value.untyped_storage()._cdata == storage
        return changed_values(value) if shares else value

    changed = Call(call.operator, call.how, call.function, *tree_map(other, (call.args, call.kwargs)))
    moved = make(changed, Place("cpu"))
    for assumed in (True, False):
        phantoms = make(call, UncertainPlace(uncertain, assumed))
        if phantoms is None or moved is None:
            continue
        for result, one, another in zip(phantoms, real, moved):
            is_compared = not result.is_cpu and one.is_cpu and another.is_cpu
            if is_compared and certainty(result) == "known" and not is_same(one, another):
                word = "assumed" if assumed else "unknown"
                lies.found[call.operator].append(f"{call}: calls known what follows from {word}")


@pytest.fixture(scope="module")
def lies() -> Iterator[Lies]:
    print(f"operators are chosen by seed {SEED}")
    found = Lies({name: [] for name in operator_names()}, Counter())
    open_gpus(CATALOGUE["h200"])
    try:
        for call in choose_calls():
            check(call, found)
    finally:
        close_gpus()
    yield found


@pytest.mark.parametrize("name", operator_names())
def test_what_is_known_is_what_the_cpu_computes(lies: Lies, name: str) -> None:
    assert not lies.found[name], "\n".join([f"seed {SEED}", *lies.found[name]])


def test_much_is_known(lies: Lies) -> None:
    """The comparisons above would hold if nothing were ever known."""
    assert len(lies.known) > 0.8 * len(operator_names())
