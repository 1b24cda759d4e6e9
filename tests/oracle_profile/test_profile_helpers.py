"""Helpers that take single events: overloads, gradients, parameters, scopes, as PyTorch's give them."""

import pytest
import torch.profiler._memory_profiler as theirs
from profile_comparing import key, profiled
from profile_programs import PROGRAMS
from torch._C._profiler import _EventType

from tidemark.compat import memory_profiler as ours

SOME = ("results_into_given_tensors", "lists_of_tensors", "scalars_of_all_kinds", "sparse_gradients",
        "gradients_low_level", "built_in_the_profile", "adam_foreach")  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_helpers_say_the_same_of_every_event(name: str) -> None:
    result = profiled(PROGRAMS[name]()).profiler.kineto_results
    operators = 0
    for event in ours.OpTree(result).sorted_nodes:
        kind, fields = event.typed
        assert ours.get_scopes(event) == theirs.get_scopes(event)
        found, expected = (
            ([key(p) for p in module.extract_parameters(event)],
             [(p and key(p), key(g)) for p, g in module.extract_gradients(event)])
            for module in (ours, theirs)
        )  # fmt: skip
        assert found == expected, event.name
        if kind == _EventType.TorchOp:
            operators += 1
            found, expected = (
                (list(map(str, m.SchemaMatcher.match_schemas(fields))),
                 m.SchemaMatcher.inputs_are_mutable(fields))
                for m in (ours, theirs)
            )  # fmt: skip
            assert found == expected, event.name
    assert operators > 5


def test_what_is_no_operator_has_no_overloads() -> None:
    for name in ("no_namespace", "no::such", "a::b::c", "aten::add"):
        expected, found = (m.SchemaMatcher.lookup_schemas(name) for m in (theirs, ours))
        assert str(found) == str(expected)


def test_keys_are_equal_sorted_and_printed_as_pytorchs() -> None:
    import torch

    def some(module):
        made = [module.TensorKey(torch.device("cpu"), i, module._Storage(p, a))
                for i, p, a in ((3, 64, 9), (3, 128, 2), (1, 64, 9), (3, 4096, 9))]  # fmt: skip
        return ([repr(k) for k in sorted(made)], made[0] == made[3], hash(made[0]) == hash(made[3]),
                made[0] == made[1], made[0] == module.Key(torch.device("cpu")),
                repr(module.Key(torch.device("cpu"))), module.TensorKey._make(1, None, 2, None),
                [c.value for c in module.Category], [a.name for a in module.Action])  # fmt: skip

    assert some(ours) == some(theirs)
