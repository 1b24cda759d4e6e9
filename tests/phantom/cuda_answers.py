"""What a real GPU answered to the calls of the tests; recorded by record_on_gpu.py.

An answer is kept under its call: the operator, and a hash of all that the tests know of the
arguments. A call that the GPU never saw, such as a sample that another PyTorch has, finds none.

    "float32[2,3]; 3 | 0 float32[4]"   two results; argument 0 became another than it was
    "= float32[2,3]"                   the CPU of the same machine answered the same
    "! RuntimeError: ..."              the GPU refused
"""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from calls import Call, Outcome, TensorFacts, facts_of, tensors_in
from disagreements import ASK_FOR_VALUES
from facts_text import facts_from, text_of

ANSWERS = Path(__file__).with_name("cuda_answers.json")


def key_of(call: Call) -> str:
    """The same for the same function and arguments, in every version of PyTorch."""
    said = [call.way, _said((call.args, call.kwargs), [])]
    if call.operator in ASK_FOR_VALUES:
        named = {name: value for name, value in call.kwargs.items() if name != "out"}
        said += [_values(tensor) for tensor in tensors_in((call.args, named))]
    return hashlib.sha1("\n".join(said).encode()).hexdigest()[:10]


def _said(value: Any, seen: list[torch.Tensor]) -> str:
    if isinstance(value, torch.Tensor):
        facts = text_of(facts_of(value, seen))
        seen.append(value)
        return facts + (" wants a gradient" if value.requires_grad else "")
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_said(value[name], seen)}' for name in sorted(value))}}}"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(_said(one, seen) for one in value)})"
    return getattr(value, "__qualname__", "") or repr(value)  # of a function, not where it lies


def _values(tensor: torch.Tensor) -> str:
    if tensor.layout != torch.strided:
        return ""
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return hashlib.sha1(bytes(flat.view(torch.uint8).tolist())).hexdigest()


@dataclass(frozen=True)
class CudaAnswer:
    outcome: Outcome
    as_cpu: bool = False  # the CPU beside that GPU gave the same answer


def answer_text(call: Call, answer: CudaAnswer) -> str:
    if answer.outcome.error:
        return f"! {answer.outcome.error[:100]}"
    results = "; ".join(
        text_of(one) if isinstance(one, TensorFacts) else repr(one)
        for one in answer.outcome.results
    )
    before = _arguments(call)
    changed = "".join(
        f" | {i} {text_of(after)}"
        for i, after in enumerate(answer.outcome.arguments) if after != before[i]
    )
    return ("= " if answer.as_cpu else "") + results + changed


def answer_from(call: Call, text: str) -> CudaAnswer:
    if text.startswith("! "):
        return CudaAnswer(Outcome(error=text[2:]))
    results, *changed = text.removeprefix("= ").split(" | ")
    arguments = _arguments(call)
    for change in changed:
        number, after = change.split(" ", 1)
        arguments[int(number)] = facts_from(after)
    values = tuple(
        facts_from(one) if "[" in one else ast.literal_eval(one)
        for one in results.split("; ") if one
    )
    outcome = Outcome(values, tuple(arguments), frozenset({"cuda"}))
    return CudaAnswer(outcome, text.startswith("= "))


def _arguments(call: Call) -> list[TensorFacts]:
    return [facts_of(tensor, []) for tensor in call.tensors()]


class CudaAnswers:
    """`facts` says which GPU and PyTorch it was, and how many calls were asked and answered."""

    def __init__(self, path: Path = ANSWERS) -> None:
        self.facts = json.loads(path.read_text())
        self._answers: dict[str, dict[str, str]] = self.facts.pop("answers")

    def __len__(self) -> int:
        return sum(len(of_operator) for of_operator in self._answers.values())

    def of_another_version(self) -> bool:
        def version(text: str) -> list[str]:
            return text.split(".")[:2]

        return version(self.facts["torch"]) != version(torch.__version__)

    def find(self, call: Call) -> CudaAnswer | None:
        """The GPU's answer to this very call, or its refusal."""
        of_operator = self._answers.get(call.operator)
        text = of_operator and of_operator.get(key_of(call))
        return answer_from(call, text) if text else None
