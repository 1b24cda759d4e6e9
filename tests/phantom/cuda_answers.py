"""What a real GPU answered where the CPU answers otherwise; recorded by record_on_gpu.py."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from calls import Call, Outcome, TensorFacts, facts_of
from torch.utils._pytree import tree_leaves

ANSWERS = Path(__file__).with_name("cuda_answers.json")


def fingerprint(call: Call) -> str:
    """Tells whether two versions of PyTorch mean the same call: layouts of tensors, other values."""
    leaves = tree_leaves((call.args, call.kwargs))
    words = [
        str(facts_of(leaf, [])) if isinstance(leaf, torch.Tensor) else repr(leaf) for leaf in leaves
    ]
    return hashlib.sha1("\n".join(words).encode()).hexdigest()[:12]


def as_json(outcome: Outcome) -> Any:
    def plain(facts: Any) -> Any:
        return list(dataclasses.astuple(facts)) if isinstance(facts, TensorFacts) else facts

    both = {"results": outcome.results, "arguments": outcome.arguments}
    return json.loads(json.dumps({name: [plain(f) for f in all] for name, all in both.items()}))


class CudaAnswers:
    def __init__(self) -> None:
        self._answers = json.loads(ANSWERS.read_text())["answers"]

    def find(self, call: Call) -> Outcome | None:
        """The GPU's answer to this very call, where it is another one than the CPU's."""
        mark, what = self._answers.get(str(call), ("", None))
        if what is None or mark != fingerprint(call):
            return None
        return Outcome(_facts(what["results"]), _facts(what["arguments"]), frozenset({"cuda"}))


def _facts(values: list[Any]) -> tuple[Any, ...]:
    def one(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        sizes, dtype, strides, *rest = value
        return TensorFacts(tuple(sizes), dtype, tuple(strides), *rest)

    return tuple(one(value) for value in values)
