"""Calls to try: PyTorch's own catalogue of operators with its sample arguments, laid out in odd ways."""

from __future__ import annotations

import itertools
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from calls import Call, Place
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from sample_arguments import sample_arguments  # noqa: E402

SEED = int(os.environ.get("TIDEMARK_OPERATOR_SEED", "20260"))
# Of each operator and dtype so many samples are chosen, among its first 12.
SAMPLES = 3
# One in so many of the calls is made; 1 makes them all, where time does not matter.
SHARE = int(os.environ.get("TIDEMARK_OPERATOR_SHARE", "3"))
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16, torch.uint8)

LEFT_OUT = (
    "jiterator", "triton", "torch.ops.",  # run by another compiler, or only for testing
    "sparse.", "to_sparse",  # a phantom is dense
    "lu_unpack",  # PyTorch's CPU kernel writes past the end of an out= that is not dense
)


def operators() -> list[Any]:
    return [op for op in op_db if not any(word in op.name for word in LEFT_OUT)]


def operator_names() -> list[str]:
    return sorted({op.formatted_name for op in operators()})


def choose_calls(part: int = 0, parts: int = 1) -> Iterator[Call]:
    """The same calls for the same seed: for each operator some dtypes, samples and layouts."""
    for op in operators()[part::parts]:
        yield from itertools.islice(_calls_for(op), 0, None, SHARE)


def _calls_for(op: Any) -> Iterator[Call]:
    chosen = random.Random(f"{SEED} {op.formatted_name}")
    for dtype in _choose_dtypes(op, chosen):
        for number, sample in _choose_samples(op, dtype, chosen):
            yield from _calls_of(op, f"{str(dtype)[6:]} sample {number}", sample, chosen)


def _choose_dtypes(op: Any, chosen: random.Random) -> list[torch.dtype]:
    able = [dtype for dtype in DTYPES if dtype in op.dtypes] or sorted(op.dtypes, key=str)
    return able[:1] + chosen.sample(able[1:], min(1, len(able[1:])))


def _choose_samples(op: Any, dtype: torch.dtype, chosen: random.Random) -> list[tuple[int, Any]]:
    torch.manual_seed(chosen.randrange(1 << 30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream = sample_arguments(op, dtype, requires_grad=False)
        first = list(enumerate(itertools.islice(stream, 4 * SAMPLES)))
    return sorted(chosen.sample(first, min(SAMPLES, len(first))), key=lambda pair: pair[0])


def _calls_of(op: Any, how: str, sample: Any, chosen: random.Random) -> Iterator[Call]:
    name = op.formatted_name
    layout = chosen.choice([same, same, spaced, transposed, shifted, expanded, channels_last])
    args, kwargs = tree_map(
        lambda v: layout(v) if isinstance(v, torch.Tensor) and v.layout == torch.strided else v,
        ((sample.input, *sample.args), sample.kwargs),
    )
    how = f"{how}, {layout.__name__}"
    yield Call(name, how, op.op, args, kwargs)
    if op.inplace_variant is not None and isinstance(sample.input, torch.Tensor):
        yield Call(name, f"{how}, in place", op.inplace_variant, args, kwargs, "in place")
    if op.supports_out and chosen.random() < 0.5:
        yield from _out_call(op, how, args, kwargs, chosen)
    if op.supports_autograd and _is_float(sample.input) and chosen.random() < 0.5:
        wants = tree_map(_wanting_grad, (args, kwargs))
        yield Call(name, f"{how}, gradient", gradient_of(op.op), *wants, "gradient")


def _is_float(value: Any) -> bool:
    return any(isinstance(v, torch.Tensor) and v.is_floating_point() for v in tree_leaves(value))


def _wanting_grad(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or not (value.is_floating_point() or value.is_complex()):
        return value
    return value.detach().requires_grad_()


def gradient_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients of all arguments that want one, for a gradient of ones."""

    def gradient(*args: Any, **kwargs: Any) -> Any:
        leaves = [v for v in tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
        results = tree_leaves(function(*args, **kwargs))
        results = [v for v in results if isinstance(v, torch.Tensor) and v.requires_grad]
        ones = [torch.ones_like(v) for v in results]
        return torch.autograd.grad(
            results, [v for v in leaves if v.requires_grad], ones, allow_unused=True
        )

    return gradient


def _out_call(
    op: Any, how: str, args: Any, kwargs: dict[str, Any], chosen: random.Random
) -> Iterator[Call]:
    """With out= tensors that fit, that are empty, or that are laid out otherwise."""
    copies = tree_map(Place("cpu"), (args, kwargs))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = op.op(*copies[0], **copies[1])
    except RuntimeError:
        return
    given = [v for v in tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
    if any(not isinstance(v, torch.Tensor) for v in tree_leaves(result)) or not given:
        return
    kind, make = chosen.choice([
        ("fits", lambda v: torch.empty(v.shape, dtype=v.dtype)),
        ("is empty", lambda v: torch.empty(0, dtype=v.dtype)),
        ("is transposed", lambda v: transposed(torch.empty(v.shape, dtype=v.dtype))),
    ])
    out = tree_map(make, tuple(result) if isinstance(result, tuple) else result)
    yield Call(op.formatted_name, f"{how}, out {kind}", op.op, args, {**kwargs, "out": out})


# Layouts: the same sizes and (but for `expanded`) the same values, otherwise in memory.


def same(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def spaced(tensor: torch.Tensor) -> torch.Tensor:
    """Every other element of a larger buffer, beginning with its second."""
    if tensor.dim() == 0:
        return tensor
    room = torch.empty(*tensor.shape[:-1], 2 * tensor.shape[-1] + 1, dtype=tensor.dtype)
    return room[..., 1::2].copy_(tensor)


def transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.transpose(0, -1).contiguous().transpose(0, -1) if tensor.dim() > 1 else tensor


def shifted(tensor: torch.Tensor) -> torch.Tensor:
    """Dense, in the middle of a larger storage."""
    room = torch.empty(tensor.numel() + 7, dtype=tensor.dtype)
    return room[3 : 3 + tensor.numel()].view(tensor.shape).copy_(tensor)


def expanded(tensor: torch.Tensor) -> torch.Tensor:
    """One row seen many times."""
    return tensor[:1].clone().expand_as(tensor) if tensor.dim() > 1 else tensor


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() == 4:
        return tensor.contiguous(memory_format=torch.channels_last)
    if tensor.dim() == 5:
        return tensor.contiguous(memory_format=torch.channels_last_3d)
    return tensor
