"""Reads a call's arguments back from the text that a tape has of them: "(f32[8,3]{1,8}, 2, None)"."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

TENSOR = re.compile(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)\})?(@cpu)?")
WORDS = {"None": None, "True": True, "False": False}
DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64",
    "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool",
    "ComplexFloat": "complex64", "ComplexDouble": "complex128",
    "Float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2": "float8_e5m2",
}


class Unreadable(ValueError):
    """The text does not say all that the call was made with."""


@dataclass(frozen=True)
class TensorText:
    """A tensor as a signature has it."""

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None  # None: contiguous
    is_on_cpu: bool


@dataclass(frozen=True)
class DeviceText:
    name: str


Argument = TensorText | DeviceText | int | float | bool | str | None | list["Argument"]


def arguments_of(signature: str) -> list[Argument]:
    """The arguments in order; what is after the closing bracket, the results, is not looked at."""
    reader = _Reader(signature)
    reader.take("(")
    return reader.items(")")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, word: str) -> None:
        if not self.text.startswith(word, self.at):
            raise Unreadable(f"{word!r} is missing at character {self.at} of {self.text!r}")
        self.at += len(word)

    def sees(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def items(self, end: str) -> list[Argument]:
        found: list[Argument] = []
        while not self.sees(end):
            if found:
                self.take(", ")
            if self.text.startswith("...", self.at):
                raise Unreadable("a list is longer than what the tape has of it")
            found.append(self.item())
        return found

    def item(self) -> Argument:
        if self.sees("["):
            return self.items("]")
        if self.text.startswith("'", self.at):
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise Unreadable("a text has no end")
            word, self.at = self.text[self.at + 1:end], end + 1
            return word
        if tensor := TENSOR.match(self.text, self.at):
            self.at = tensor.end()
            return _tensor(tensor)
        found = re.compile(r"[^,\])]*").match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return _word(found.group())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",")) if text else ()


def _tensor(found: re.Match[str]) -> TensorText:
    dtype, sizes, strides, cpu = found.groups()
    if dtype not in DTYPES:
        raise Unreadable(f"{dtype} is a type of numbers that is not known")
    sized = _numbers(sizes)
    strided = None if strides is None else _numbers(strides)
    if strided is not None and len(strided) != len(sized):
        raise Unreadable("a tensor has not as many strides as sizes")
    return TensorText(DTYPES[dtype], sized, strided, cpu is not None)


def _word(word: str) -> Argument:
    if word in WORDS:
        return WORDS[word]
    if word == "cpu" or word.startswith("cuda"):
        return DeviceText(word)
    try:
        number = ast.literal_eval(word)
    except (ValueError, SyntaxError):
        number = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}.get(word)
    if not isinstance(number, int | float):
        raise Unreadable(f"{word or 'nothing'!r} is no argument that can be made again")
    return number
