"""A GPU's answers as text, the calls they are kept under, and the recording of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import record_on_gpu
import torch
from calls import Call, Outcome, Place, TensorFacts, run
from cuda_answers import ANSWERS, CudaAnswer, CudaAnswers, answer_from, answer_text, key_of
from facts_text import facts_from, text_of
from handmade_calls import handmade_calls

DENSE = TensorFacts((2, 3), "torch.float32", (3, 1), 0, 24)


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (DENSE, "float32[2,3]"),
        (replace(DENSE, strides=(1, 2)), "float32[2,3]/1,2"),
        (replace(DENSE, offset=4, storage_bytes=64), "float32[2,3]+4:64"),
        (replace(DENSE, storage_bytes=0), "float32[2,3]:0"),
        (replace(DENSE, strides=(1, 2), is_neg=True), "float32[2,3]/1,2-"),
        (replace(DENSE, same_as=1, shares_with=1), "float32[2,3]=1"),
        (replace(DENSE, shares_with=0), "float32[2,3]~0"),
        (replace(DENSE, same_as=2, shares_with=0), "float32[2,3]=2~0"),
        (TensorFacts((), "torch.complex64", (), 0, 8, True), "complex64[]*"),
        (TensorFacts((0, 5), "torch.int64", (5, 1), 0, 0), "int64[0,5]"),
        (TensorFacts((4, 4), "torch.float32 torch.sparse_coo"), "float32 sparse_coo[4,4]"),
    ],
)
def test_facts_are_a_short_text(facts: TensorFacts, text: str) -> None:
    assert text_of(facts) == text
    assert facts_from(text) == facts


def make(*args: object, operator: str = "add", way: str = "", **kwargs: object) -> Call:
    return Call(operator, "sample 1", torch.add, args, kwargs, way)


def test_a_key_is_of_the_call_and_not_of_its_name() -> None:
    one = make(torch.zeros(2, 3), 2, alpha=1)
    assert key_of(one) == key_of(replace(one, how="sample 7"))
    x = torch.zeros(2, 3)
    others = [
        make(torch.zeros(3, 2).t(), 2, alpha=1), make(torch.zeros(2, 3).double(), 2, alpha=1),
        make(x, 2, alpha=2), make(x, 3, alpha=1), make(x, 2, beta=1), make(x, [2], alpha=1),
        make(x, 2, alpha=1, way="in place"), make(x.clone().requires_grad_(), 2, alpha=1),
        make(x, x, alpha=1), make(x, x.clone(), alpha=1), make(x, x.view(2, 3), alpha=1),
    ]
    assert len({key_of(call) for call in [one, *others]}) == 12


def test_values_are_part_of_a_key_only_where_they_decide() -> None:
    def keys(operator: str) -> set[str]:
        return {key_of(make(torch.tensor(values), operator=operator)) for values in ([0, 1], [1, 1])}

    assert len(keys("add")) == 1
    assert len(keys("nonzero")) == 2


def test_what_a_call_writes_into_is_not_read_for_its_key() -> None:
    room = torch.zeros(3)
    before = key_of(make(torch.ones(3), operator="nonzero", out=room))
    assert key_of(make(torch.ones(3), operator="nonzero", out=room.add_(1))) == before


def test_an_answer_says_results_and_changed_arguments() -> None:
    call = make(torch.zeros(2, 3), torch.zeros(5))
    grown = TensorFacts((4,), "torch.float32", (1,), 0, 16)
    five = TensorFacts((5,), "torch.float32", (1,), 0, 20)
    same = CudaAnswer(Outcome((DENSE, 3, True, "NoneType"), (DENSE, five), frozenset({"cuda"})), True)
    other = CudaAnswer(Outcome((), (grown, five), frozenset({"cuda"})))
    assert answer_text(call, same) == "= float32[2,3]; 3; True; 'NoneType'"
    assert answer_text(call, other) == " | 0 float32[4]"
    for answer in (same, other):
        assert answer_from(call, answer_text(call, answer)) == answer


def test_a_refusal_is_an_answer() -> None:
    answer = CudaAnswer(Outcome(error="RuntimeError: not on this device"))
    assert answer_from(make(), answer_text(make(), answer)) == answer


def test_answers_of_the_cpu_are_read_as_they_were_given() -> None:
    for call in handmade_calls(chains=20):
        outcome = run(call, Place("cpu"))
        read = answer_from(call, answer_text(call, CudaAnswer(outcome))).outcome
        assert (read.results, read.arguments) == (outcome.results, outcome.arguments), str(call)


def test_a_recording_goes_on_behind_a_call_that_was_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third call breaks the context; the fifth kills the process, so that its line is open."""

    def calls_of(part: int, parts: int) -> Iterator[Call]:
        yield from islice(handmade_calls(), 6)

    def ask(call: Call, device: str) -> str:
        number = [str(c) for c in handmade_calls()].index(str(call))
        if number == 2:
            raise RuntimeError("context lost")
        if number == 4:
            raise KeyboardInterrupt
        return "= float32[1]"

    monkeypatch.setattr(record_on_gpu, "calls_of", calls_of)
    monkeypatch.setattr(record_on_gpu, "ask", ask)
    path = tmp_path / "part_0.txt"
    assert record_on_gpu.work(0, 1, path, "cpu") == record_on_gpu.CONTEXT_LOST
    with pytest.raises(KeyboardInterrupt):
        record_on_gpu.work(0, 1, path, "cpu")
    assert record_on_gpu.work(0, 1, path, "cpu") == 0
    said = [line.split("\t") for line in path.read_text().splitlines()]
    assert [key for _, key, _ in said] == [key_of(call) for call in islice(handmade_calls(), 6)]
    good = "= float32[1]"
    assert [text for _, _, text in said] == [good, good, "?", good, "?", good]


def test_a_recording_counts_what_it_gathers() -> None:
    lines = [
        "add\ta\t= float32[1]", "add\ta\t= float32[1]", "add\tb\tfloat32[2]", "add\tc\t! RuntimeError",
        "add\td\t", "add\te\t?", "mul\tf\tfloat32[1]", "mul\tf\tfloat32[2]",
    ]
    counts, answers = record_on_gpu.gather(lines)
    # The CPU refused d, nobody asked the GPU. The two answers to f cannot both be right.
    assert counts == {"asked": 7, "answered": 3, "as_cpu": 2, "refused": 1, "lost": 1,
                      "contradicted": 2}
    assert answers == {"add": {"a": "= float32[1]", "b": "float32[2]", "c": "! RuntimeError"},
                       "mul": {}}


def test_the_file_says_where_it_comes_from_and_stays_small() -> None:
    facts = json.loads(ANSWERS.read_text())
    assert facts["gpu"].startswith("NVIDIA") and facts["driver"] and facts["torch"] and facts["cuda"]
    assert 0 < len(CudaAnswers()) <= facts["answered"] + facts.get("refused", 0)
    assert ANSWERS.stat().st_size < 1.5e6
