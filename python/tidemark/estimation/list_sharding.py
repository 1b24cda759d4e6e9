"""How operators on lists of DTensors are sharded, asked once for each kind of element.

PyTorch finds it out for every element and looks at the whole list each time: an optimizer's step over
a thousand parameters takes minutes, and layers repeat themselves. Elements do not depend on each other,
so equal ones get one answer, PyTorch's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from tidemark.virtual_cuda.later_imports import when_imported
from tidemark.virtual_cuda.patches import Patches

PROPAGATION = "torch.distributed.tensor._sharding_prop"
ELEMENTWISE = ("aten::_foreach_", "aten::_amp_foreach_", "aten::_fused_adam", "aten::_fused_sgd",
               "aten::_fused_adagrad")


def patch_list_sharding(patches: Patches) -> None:
    """Before anything has loaded DTensor: it keeps the method from then on."""
    def act(module: ModuleType) -> None:
        propagator = getattr(module, "ShardingPropagator", None)
        name = "propagate_op_sharding_non_cached"
        if hasattr(propagator, name):
            patches.set(propagator, name, asked_once(getattr(propagator, name)))

    when_imported(patches, PROPAGATION, act)


def asked_once(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @wraps(original)
    def propagate_op_sharding_non_cached(propagator: Any, schema: Any) -> Any:
        length = list_length(schema) if schema.op.name().startswith(ELEMENTWISE) else 0
        kinds = kinds_of(schema.args_schema, length) if length > 1 else None
        if kinds is None or len(set(kinds)) == length:
            return original(propagator, schema)
        firsts = [kinds.index(kind) for kind in range(max(kinds) + 1)]
        answer = original(propagator, with_lists(schema, lambda each: [each[i] for i in firsts], length))
        return spread(answer, kinds)

    return propagate_op_sharding_non_cached


def is_list(value: Any, length: int) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == length


def list_length(schema: Any) -> int:
    """How many tensors the lists have, keyword lists of fused optimizers aside; 0 where that is odd."""
    lengths = {len(arg) for arg in schema.args_schema if isinstance(arg, (list, tuple)) and arg}
    has_others = any(isinstance(arg, (list, tuple)) for arg in schema.kwargs_schema.values())
    return lengths.pop() if len(lengths) == 1 and not has_others else 0


def kinds_of(arguments: Any, length: int) -> list[int] | None:
    """A number for each index, the same where the tensors of all lists are alike. Of plain numbers only
    the first is looked at: they change no layout."""
    numbers: dict[Any, int] = {}
    lists = [arg for arg in arguments if is_list(arg, length) and hasattr(arg[0], "placements")]
    try:
        return [numbers.setdefault(column, len(numbers)) for column in zip(*lists, strict=True)]
    except TypeError:  # sizes that are symbols have no hash
        return None


def with_lists(schema: Any, change: Callable[[Any], list[Any]], length: int) -> Any:
    """The same operator on other lists."""
    arguments = tuple(type(arg)(change(arg)) if is_list(arg, length) else arg
                      for arg in schema.args_schema)
    return type(schema)(schema.op, arguments, schema.kwargs_schema, schema_info=schema.schema_info)


def spread(answer: Any, kinds: list[int]) -> Any:
    """What was said of each kind, said of each element."""
    count = max(kinds) + 1

    def of_all(each: Any) -> list[Any]:
        return [each[kind] for kind in kinds]

    if is_list(answer.output_spec, count):
        answer.output_spec = type(answer.output_spec)(of_all(answer.output_spec))
    if answer.redistribute_schema is not None:
        answer.redistribute_schema = with_lists(answer.redistribute_schema, of_all, count)
    return answer
