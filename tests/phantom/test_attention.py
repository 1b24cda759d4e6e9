"""The attention kernel of a virtual H200 is the real one's, for every question of the grid."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from attention_questions import Question, answer, questions
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

ANSWERS = json.loads((Path(__file__).parent / "attention_answers.json").read_text())


@pytest.mark.filterwarnings("ignore")
def test_every_choice_is_the_real_gpus(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200")
    told = ANSWERS["answers"]
    asked = list(questions())
    assert len(told) == len(asked) > 12_000 and set(told) == set("0123")
    wrong = [(question, real, ours) for question, real in zip(asked, told, strict=True)
             if (ours := answer(question)) != real]
    assert wrong == []


# One call for each rule of the table; the kernel that takes it, and the one after it does.
RULES = {
    "is_regular": (Question(layout="three dimensions"), "0"),
    "is_dense": (Question(layout="strided"), "0"),
    "is_half_on_ampere": (Question(dtype="f32"), "2"),
    "has_no_mask": (Question(mask="bool", allowed="no cuDNN"), "2"),
    "has_one_size_up_to_256": (Question(head_sizes=(264, 264)), "2"),
    "is_square_if_causal": (Question(lengths=(128, 256), causal=True, allowed="no cuDNN"), "2"),
    "is_not_grouped": (Question(dtype="f32", heads=(8, 2)), "0"),
    "is_aligned": (Question(head_sizes=(60, 60), mask="bias"), "0"),
    "has_sizes_of_cudnn": (Question(head_sizes=(60, 60)), "1"),
    "gives_bias_no_gradient": (Question(mask="bias with gradient"), "2"),
    "drops_nothing_of_one_query": (Question(lengths=(1, 128), dropout=0.1), "1"),
    "may_vary": (Question(deterministic=True), "1"),
    "the user's order": (Question(allowed="efficient first"), "2"),
    "none": (Question(), "3"),
}


@pytest.mark.filterwarnings("ignore")
def test_each_rule_decides_alone(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200")
    assert {rule: answer(question) for rule, (question, _) in RULES.items()} == {
        rule: kernel for rule, (_, kernel) in RULES.items()}


# What PyTorch's sources say of other chips: shared memory for the backward of large heads from 8.6 to 8.9 and
# on 12.x, cuDNN's sizes on 9.0 and 10.x, bfloat16 from 8.0 on.
OTHER_CHIPS = {
    "a100-40gb": {Question(): "1", Question(dtype="f32", head_sizes=(60, 60)): "2",
                  Question(head_sizes=(200, 200)): "1"},
    "t4": {Question(): "0", Question(dtype="f16"): "2"},
    "b200": {Question(): "3", Question(head_sizes=(192, 128)): "3", Question(head_sizes=(200, 200)): "1",
             Question(head_sizes=(256, 256), dropout=0.1): "1"},
} | dict.fromkeys(("rtx3080", "rtx4090", "rtx5090"), {
    Question(head_sizes=(192, 192), dropout=0.1): "1",
    Question(head_sizes=(200, 200)): "2",
    Question(head_sizes=(200, 200), trains=False): "1",
    Question(head_sizes=(256, 256)): "1",
    Question(head_sizes=(256, 256), dropout=0.1): "2",
})


@pytest.mark.parametrize("chip", OTHER_CHIPS)
def test_other_chips(open_session: Callable[..., Any], chip: str) -> None:
    open_session(1, chip)
    assert {question: answer(question) for question in OTHER_CHIPS[chip]} == OTHER_CHIPS[chip]


def test_heads_that_differ_are_grouped_only_where_that_is_asked_for(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200")
    query = torch.empty(2, 8, 128, 64, dtype=torch.bfloat16, device="cuda")
    key = query[:, :2]
    assert torch._fused_sdp_choice(query, key, key, enable_gqa=True) == SDPBackend.CUDNN_ATTENTION.value
    assert torch._fused_sdp_choice(query, key, key) == SDPBackend.MATH.value


def test_a_bias_that_wants_a_gradient_trains(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200")
    q, k, v = (torch.randn(2, 8, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
               for _ in range(3))
    bias = torch.zeros(1, 8, 128, 128, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    F.scaled_dot_product_attention(q, k, v, bias).sum().backward()
    assert bias.grad is not None and bias.grad.shape == bias.shape


def test_nothing_allowed_is_an_error(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200")
    q = torch.randn(2, 8, 128, 64, device="cuda", dtype=torch.float32)
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]), pytest.raises(RuntimeError, match="No available"):
        F.scaled_dot_product_attention(q, q, q)
