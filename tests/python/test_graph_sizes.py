"""Sizes over dimensions have the values that Python gives the same expressions."""

import ast
import operator
import random
from pathlib import Path

import exported_model
import pytest

import tidemark
from tidemark import graphs

VALUES = {"s0": 3, "s1": 7, "s77": 64}
OFFSET = 2**40  # makes every size positive
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
FUNCTIONS = {
    "FloorDiv": operator.floordiv, "CeilDiv": lambda a, b: -(-a // b), "Mod": operator.mod,
    "Max": max, "Min": min, "Add": operator.add, "Mul": operator.mul, "Pow": operator.pow,
}  # fmt: skip


def checked(value: int) -> int:
    """Nothing on the way may leave 63 bits, and no exponent may be negative."""
    if not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ArithmeticError(value)
    return value


def value_of(node: ast.AST) -> int:
    """The value of a tree that Python's own parser made."""
    match node:
        case ast.Expression(body):
            return value_of(body)
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return VALUES[name]
        case ast.UnaryOp(op, operand):
            return checked(OPERATORS[type(op)](value_of(operand)))
        case ast.BinOp(left, op, right):
            a, b = value_of(left), value_of(right)
            if isinstance(op, ast.Pow) and abs(a) > 1 and b > 63:
                raise ArithmeticError
            return checked(OPERATORS[type(op)](a, b))
        case ast.Call(ast.Name(name), [first, second]):
            return checked(FUNCTIONS[name](value_of(first), value_of(second)))
    raise AssertionError(ast.dump(node))


def random_expression(chance: random.Random, depth: int) -> str:
    """Text without needless parentheses, so that precedence decides."""
    if depth == 0 or chance.random() < 0.1:
        return chance.choice([*VALUES, *VALUES, "1", "2", "3", "10"])
    kind = chance.choice(["binary"] * 6 + ["sign", "parentheses", "call"])
    left = random_expression(chance, depth - 1)
    if kind == "sign":
        return chance.choice("-+") + left
    if kind == "parentheses":
        return f"({left})"
    right = random_expression(chance, depth - 1)
    if kind == "call":
        name = chance.choice(["FloorDiv", "CeilDiv", "Mod", "Max", "Min", "Add", "Mul"])
        return f"{name}({left}, {right})"
    word = chance.choice(["+", "-", "*", "//", "%", "**"])
    return f"{left}{word}{right}" if chance.random() < 0.5 else f"{left} {word} {right}"


def sizes_in(path: Path, expressions: list[str]) -> list[int]:
    """Each expression as the bytes of one result; a result that nobody uses stays to the end."""
    byte = exported_model.BYTE
    tensors = {name: exported_model.tensor(name, byte) for name in VALUES}
    names = [f"r{i}" for i in range(len(expressions))]
    for name, text in zip(names, expressions):
        tensors[name] = exported_model.tensor(f"{text} + {OFFSET}", byte)
    nodes = [exported_model.node("torch.ops.aten.neg.default", [], [name]) for name in names]
    exported_model.write_archive(path, exported_model.model(list(VALUES), nodes, [], tensors))
    levels = graphs.read_pt2(path).accounts(dimensions=VALUES).profile().tolist()
    return [after - before - OFFSET for before, after in zip(levels[0::2], levels[2::2])]


def test_random_expressions_have_the_values_of_python(tmp_path: Path):
    chance = random.Random(77)
    expected: dict[str, int] = {}
    while len(expected) < 2000:
        text = random_expression(chance, 4)
        try:
            value = value_of(ast.parse(text, mode="eval"))
        except ArithmeticError:
            continue
        if abs(value) < OFFSET:
            expected[text] = value
            assert eval(text, dict(FUNCTIONS), dict(VALUES)) == value
    found = sizes_in(tmp_path / "sizes.pt2", list(expected))
    wrong = [(t, f, e) for (t, e), f in zip(expected.items(), found) if f != e]
    assert not wrong, wrong[:5]


def test_where_python_has_no_whole_number_of_63_bits_there_is_an_error(tmp_path: Path):
    chance = random.Random(3)
    refused: set[str] = set()
    while len(refused) < 60:
        text = random_expression(chance, 3)
        try:
            value_of(ast.parse(text, mode="eval"))
        except ArithmeticError:
            refused.add(text)
    for text in sorted(refused):
        with pytest.raises(tidemark.Error):
            sizes_in(tmp_path / "sizes.pt2", [text])
            print(text)  # pytest shows which one was taken
