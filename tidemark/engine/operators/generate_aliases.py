"""Writes tidemark/engine/operators/alias_table.h from the schemas of the torch that is there.

    python tidemark/engine/operators/generate_aliases.py > tidemark/engine/operators/alias_table.h

Operators whose results lie on the storage of an argument. In-place operators (a name that ends in
one underscore) follow a rule and are left out.
"""

import textwrap

import torch

# Their schemas allow a view, but a copy is made where a view is not possible.
SOMETIMES = tuple(
    f"aten::{name}"
    for name in """_autocast_to_full_precision _autocast_to_reduced_precision _grad_sum_to_size as_tensor
    coalesce contiguous cpu cuda flatten pin_memory ravel reshape reshape_as resolve_conj
    resolve_neg to""".split()
)

HEAD = """\
// Operators whose results lie on the storage of their first argument: generated from torch {version}.
//
// Written by tidemark/engine/operators/generate_aliases.py; not to be edited by hand.
#pragma once

namespace tidemark::operators {{
"""


def is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def view_operators() -> tuple[list[str], list[str]]:
    """Names without overload that are views always, and those that are views sometimes."""
    always, sometimes = set(), set()
    for schema in torch._C._jit_get_all_schemas():
        returns, arguments = schema.returns, schema.arguments
        if not schema.name.startswith("aten::") or is_in_place(schema.name):
            continue
        if not returns or returns[0].alias_info is None or not arguments:
            continue
        if arguments[0].alias_info is None or arguments[0].alias_info.is_write:
            continue
        if not isinstance(arguments[0].type, torch.TensorType):
            continue
        (sometimes if schema.name in SOMETIMES else always).add(schema.name.removeprefix("aten::"))
    return sorted(always), sorted(sometimes)


def main() -> None:
    print(HEAD.format(version=torch.__version__.partition("+")[0]))
    for name, operators in zip(("kAlwaysViews", "kSometimesViews"), view_operators()):
        words = textwrap.wrap(" ".join(operators), 92)
        print(f"inline constexpr char {name}[] =")
        print("\n".join(f'    "{line} "' for line in words) + ";\n")
    print("}  // namespace tidemark::operators")


if __name__ == "__main__":
    main()
