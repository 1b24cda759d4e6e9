"""Makes a call of a tape again on a real GPU, and writes down what its allocator does meanwhile."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.calibration.pieces import Pieces, pieces_in
from tidemark.calibration.signatures import Argument, DeviceText, TensorText, Unreadable, arguments_of

# Numbers that PyTorch's dispatcher has in place of these objects.
SCALAR_TYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64,
                5: torch.float16, 6: torch.float32, 7: torch.float64, 9: torch.complex64,
                10: torch.complex128, 11: torch.bool, 15: torch.bfloat16}
MEMORY_FORMATS = {0: torch.contiguous_format, 1: torch.preserve_format, 2: torch.channels_last,
                  3: torch.channels_last_3d}
LAYOUTS = {0: torch.strided}
MOST_EVENTS = 3000  # of the allocator in one call; each request may have three


class CannotCall(Exception):
    """The call cannot be made from what the tape has of it, or it fails."""


def pieces_on_gpu(op: str, signature: str) -> Pieces:
    """In requested bytes. The second of two calls counts: the first also loads libraries."""
    overload = find_overload(op)
    try:
        made = [_make(one) for one in arguments_of(signature)]
    except Unreadable as problem:
        raise CannotCall(str(problem)) from problem
    except torch.cuda.OutOfMemoryError as problem:
        raise CannotCall("its arguments are more than this GPU has") from problem
    positional, named = _sort_out(declared_arguments(op), made)
    try:
        with torch.no_grad():
            overload(*positional, **named)
            return _watched(overload, positional, named)
    except (RuntimeError, TypeError, NotImplementedError, IndexError, ValueError) as problem:
        raise CannotCall(str(problem).splitlines()[0] if str(problem) else repr(problem)) from problem


def find_overload(op: str) -> Any:
    """torch.ops.aten.sum.dim_IntList of "aten::sum.dim_IntList"."""
    space, _, name = op.partition("::")
    name, _, overload = name.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, space), name), overload or "default")
    except (AttributeError, RuntimeError) as problem:
        raise CannotCall(f"this PyTorch has no {op}") from problem


def declared_arguments(op: str) -> Any:
    name, _, overload = op.partition(".")
    for schema in torch._C._jit_get_schemas_for_operator(name):
        if schema.overload_name == overload:
            return schema.arguments
    raise CannotCall(f"this PyTorch has no {op}")


def _watched(overload: Any, positional: list[Any], named: dict[str, Any]) -> Pieces:
    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history(context=None, max_entries=MOST_EVENTS, clear_history=True)
    result = overload(*positional, **named)
    events = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
    if len(events) == MOST_EVENTS:
        raise CannotCall(f"it takes memory more than {MOST_EVENTS // 3} times")
    return pieces_in(events, [_address(one) for one in _flat(result)])


def _flat(result: Any) -> list[Any]:
    """Results as the dispatcher counts them through: each tensor of a list, and None where one may be."""
    if isinstance(result, list | tuple):
        return [one for part in result for one in _flat(part)]
    return [result] if result is None or isinstance(result, torch.Tensor) else []


def _address(result: Any) -> int:
    is_plain = isinstance(result, torch.Tensor) and result.layout == torch.strided
    return int(result.untyped_storage().data_ptr()) if is_plain else 0


def _make(argument: Argument) -> Any:
    if isinstance(argument, list):
        return [_make(one) for one in argument]
    if isinstance(argument, DeviceText):
        return torch.device(argument.name)
    if not isinstance(argument, TensorText):
        return argument
    # Zeros: a place that every index may name, and no number that a kernel stumbles over.
    options = {"dtype": getattr(torch, argument.dtype),
               "device": "cpu" if argument.is_on_cpu else "cuda"}
    if argument.strides is None:
        return torch.zeros(argument.sizes, **options)
    return torch.empty_strided(argument.sizes, argument.strides, **options).zero_()


def _sort_out(schema: Any, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    positional, named = [], {}
    for declared, value in zip(schema, values, strict=True):
        meant = _meant(str(declared.real_type), value)
        if declared.kwarg_only:
            named[declared.name] = meant
        else:
            positional.append(meant)
    return positional, named


def _meant(declared: str, value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    for word, objects in (("ScalarType", SCALAR_TYPES), ("MemoryFormat", MEMORY_FORMATS),
                          ("Layout", LAYOUTS)):
        if word in declared:
            if value not in objects:
                raise CannotCall(f"{word} {value} is not known")
            return objects[value]
    return value
