"""Writes tidemark/engine/operators/schema_table.cpp from the schemas of the torch that is there.

    python tidemark/engine/operators/generate_schemas.py > tidemark/engine/operators/schema_table.cpp

What profiles need to know of operators: how many arguments each overload takes, of which kinds, and
which of them it writes. Overloads that do not differ in that are one.
"""

import textwrap

import torch

LETTERS = (
    (torch._C.AnyType, "a"),
    (torch._C.TensorType, "T"),
    (torch._C.NoneType, "N"),
    (torch._C.BoolType, "b"),
    (torch._C.IntType, "i"),
    (torch._C.FloatType, "f"),
    (torch._C.ComplexType, "c"),
    (torch._C.NumberType, "n"),
)

HEAD = """\
// What the operators of torch take and write: generated from torch {version}.
//
// Written by tidemark/engine/operators/generate_schemas.py; not to be edited by hand.
#include "tidemark/engine/operators/schema_table.h"

namespace tidemark::operators {{

const char kSchemas[] ="""


def letter_of(kind: torch._C.Type) -> str:
    """One argument's kind, with a question mark where it may be left out."""
    if isinstance(kind, torch._C.OptionalType):
        return "?" + letter_of(kind.getElementType())
    if isinstance(kind, torch._C.AnyType):
        return "a"
    if kind.isSubtypeOf(torch._C.ListType.ofTensors()):
        return "L"
    return next((letter for known, letter in LETTERS if isinstance(kind, known)), "o")


def letters_of(schema: torch.FunctionSchema) -> str:
    return "".join(
        ("!" if argument.alias_info is not None and argument.alias_info.is_write else "")
        + letter_of(argument.type)
        for argument in schema.arguments
    )


def operators() -> dict[str, list[str]]:
    """The distinct overloads of each name."""
    found: dict[str, set[str]] = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith(("aten::", "torchvision::", "c10d::", "_c10d_functional::")):
            found.setdefault(schema.name.removeprefix("aten::"), set()).add(letters_of(schema))
    return {name: sorted(found[name]) for name in sorted(found)}


def main() -> None:
    print(HEAD.format(version=torch.__version__.partition("+")[0]))
    entries = "".join(f"{name} {'|'.join(some)};" for name, some in operators().items())
    lines = textwrap.wrap(entries, 93, break_on_hyphens=False, drop_whitespace=False)
    print("\n".join(f'    "{line}"' for line in lines) + ";\n")
    print("}  // namespace tidemark::operators")


if __name__ == "__main__":
    main()
