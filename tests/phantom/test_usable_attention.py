"""What a virtual GPU says of attention kernels, to programs that ask and to jagged tensors, is what an H200 says."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from attention_questions import Question, answer, mask_of, tensors_of
from torch.backends import cuda
from torch.nn.attention import SDPBackend, sdpa_kernel
from usable_attention import dense_and_odd, questions, usable

from tidemark.virtual_cuda import close_gpus

ANSWERS = json.loads((Path(__file__).parent / "usable_attention.json").read_text())
FLASH, EFFICIENT, CUDNN = 1, 2, 4
ALL = FLASH + EFFICIENT + CUDNN


def can(**what: Any) -> int:
    return int(answer(Question(**what), usable))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "ask", "asked"), [
    ("usable", usable, list(questions())), ("chosen", None, list(dense_and_odd()))], ids=["usable", "chosen"])
def test_every_answer_is_the_real_gpus(open_session: Callable[..., Any], kind: str, ask: Any,
                                       asked: list[Question]) -> None:
    open_session(1, "h200")
    how = (ask,) if ask else ()
    wrong = [(question, real) for question, real in zip(asked, ANSWERS[kind], strict=True)
             if answer(question, *how) != real]
    assert wrong == []


def test_the_answers_tell_kernels_apart() -> None:
    assert len(ANSWERS["usable"]) > 1000 and set(ANSWERS["usable"]) >= set("01234567") - {"4"}


# What PyTorch's sources say of other chips: bfloat16, flash and cuDNN from 8.0 on; on 8.9 flash does not train
# with heads of more than 192, and cuDNN has none above 128.
@pytest.mark.parametrize(("chip", "what", "kernels"), [
    ("t4", {"layout": "jagged"}, 0),
    ("t4", {"layout": "jagged", "dtype": "f16"}, EFFICIENT),
    ("t4", {"layout": "jagged", "dtype": "f32", "head_sizes": (61, 61)}, EFFICIENT),
    ("a100-40gb", {"layout": "jagged"}, ALL),
    ("a100-40gb", {"layout": "jagged", "dtype": "f32", "head_sizes": (61, 61)}, 0),
    ("rtx4090", {"head_sizes": (200, 200)}, EFFICIENT),
    ("rtx4090", {"head_sizes": (200, 200), "trains": False}, FLASH + EFFICIENT),
    ("rtx4090", {"layout": "jagged", "head_sizes": (200, 200)}, EFFICIENT + CUDNN),
])
def test_other_chips(open_session: Callable[..., Any], chip: str, what: dict[str, Any], kernels: int) -> None:
    open_session(1, chip)
    assert can(**what) == kernels


def test_where_no_gradient_is_recorded_nobody_trains(open_session: Callable[..., Any]) -> None:
    open_session(1, "rtx4090")
    with torch.no_grad():
        assert can(head_sizes=(200, 200)) == FLASH + EFFICIENT


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("layout", ["transposed", "jagged"])
def test_what_is_switched_off_cannot_be_used(layout: str) -> None:
    for enable, kernel in ((cuda.enable_flash_sdp, FLASH), (cuda.enable_mem_efficient_sdp, EFFICIENT),
                           (cuda.enable_cudnn_sdp, CUDNN)):
        enable(False)
        try:
            assert can(layout=layout) == ALL - kernel
        finally:
            enable(True)
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        assert can(layout=layout) == EFFICIENT
    assert can(layout=layout) == ALL


@pytest.mark.usefixtures("gpus")
def test_the_reason_is_told_where_it_is_asked_for() -> None:
    masked = Question(mask="bool")
    params = cuda.SDPAParams(*tensors_of(masked), mask_of(masked), 0.0, False, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not cuda.can_use_flash_attention(params)
        assert cuda.can_use_efficient_attention(params, debug=True)
    with pytest.warns(UserWarning, match="flash attention is not used: it takes no mask"):
        assert not cuda.can_use_flash_attention(params, debug=True)


def test_without_gpus_pytorch_answers_itself(open_session: Callable[..., Any]) -> None:
    names = ("_can_use_flash_attention", "_can_use_mem_efficient_attention", "_can_use_cudnn_attention",
             "_is_flash_attention_available")
    owners = (torch._C, torch.backends.cuda, torch.nested._internal.sdpa, torch.nested._internal.ops)
    before = [dict(vars(owner)) for owner in owners]
    open_session(1, "h200")
    assert cuda.is_flash_attention_available() and can() == can(layout="jagged") == ALL
    assert all(getattr(torch._C, name) is not before[0][name] for name in names)
    close_gpus()
    assert [dict(vars(owner)) for owner in owners] == before
    on_cpu = Question(device="cpu")
    assert int(usable(on_cpu)) == int(usable(replace(on_cpu, layout="jagged"))) == 0
