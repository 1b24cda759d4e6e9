"""What is known of a tensor as one short text, and back: `float32[2,3]/1,2+4:64` and the like.

    dtype[sizes]  /strides  +offset  :bytes  * conjugate  - negative  =i same as  ~i shares with

What goes without saying is left out: the strides of a dense tensor, an offset of nothing, a storage
that is just as large as its elements. The numbers after = and ~ are TensorFacts'.
"""

from __future__ import annotations

import re
from math import prod

import torch
from calls import TensorFacts

_FORM = re.compile(
    r"(?P<dtype>[^\[]+)\[(?P<sizes>[\d,]*)\](?:/(?P<strides>[\d,]+))?(?:\+(?P<offset>\d+))?"
    r"(?::(?P<bytes>\d+))?(?P<conj>\*)?(?P<neg>-)?(?:=(?P<same>\d+))?(?:~(?P<shares>\d+))?"
)


def text_of(facts: TensorFacts) -> str:
    usual = _usual(facts.sizes, facts.dtype)
    text = f"{facts.dtype.replace('torch.', '')}[{_joined(facts.sizes)}]"
    text += f"/{_joined(facts.strides)}" if facts.strides != usual.strides else ""
    text += f"+{facts.offset}" if facts.offset else ""
    text += f":{facts.storage_bytes}" if facts.storage_bytes != usual.storage_bytes else ""
    text += "*" * facts.is_conj + "-" * facts.is_neg
    text += f"={facts.same_as}" if facts.same_as >= 0 else ""
    # The first tensor that is the same one is the first with its storage, too, as a rule.
    return text + (f"~{facts.shares_with}" if facts.shares_with != facts.same_as else "")


def facts_from(text: str) -> TensorFacts:
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(f"not a tensor's facts: {text!r}")
    dtype = " ".join(f"torch.{word}" for word in form["dtype"].split())
    usual = _usual(_numbers(form["sizes"]), dtype)
    same = int(form["same"] or -1)
    return TensorFacts(
        usual.sizes, dtype,
        _numbers(form["strides"]) if form["strides"] else usual.strides,
        int(form["offset"] or 0), int(form["bytes"] or usual.storage_bytes),
        bool(form["conj"]), bool(form["neg"]), same, int(form["shares"] or same),
    )


def _usual(sizes: tuple[int, ...], dtype: str) -> TensorFacts:
    """A dense tensor of these sizes; of one that is not strided (two words) nothing more is known."""
    if " " in dtype:
        return TensorFacts(sizes, dtype)
    strides = tuple(prod(max(size, 1) for size in sizes[i + 1 :]) for i in range(len(sizes)))
    itemsize = getattr(torch, dtype.removeprefix("torch.")).itemsize
    return TensorFacts(sizes, dtype, strides, 0, prod(sizes) * itemsize)


def _joined(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",") if number)
