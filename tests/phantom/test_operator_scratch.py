"""Memory that PyTorch's own CUDA kernels take inside operators: as a real GPU does."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from workspace_questions import bytes_taken

from tidemark.virtual_cuda import library

MIB = 1 << 20
# Calls of training runs on an H200: [operator, arguments, keywords], and the least and the most that
# the allocator held above what was there after the call. It hands out whole blocks, up to 1 MiB
# larger than asked for.
CALLS = json.loads((Path(__file__).parent / "scratch_answers.json").read_text())["calls"]
OPERATORS = sorted({question[0] for question, _, _ in CALLS})


def is_tensor(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 5 and isinstance(value[0], str)


def made(value: Any) -> Any:
    """A tensor is written [type, sizes, strides, offset, device]."""
    if is_tensor(value):
        name, sizes, strides, offset, device = value
        reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        length = offset + reach + 1 if all(sizes) else offset
        base = torch.empty(length, dtype=getattr(torch, name), device=device)
        return base.as_strided(sizes, strides, offset)
    if isinstance(value, list):
        return [made(one) for one in value]
    if isinstance(value, str) and value.startswith("torch."):
        return getattr(torch, value.removeprefix("torch."))
    return value


def ask(question: list[Any]) -> int:
    operator, arguments, keywords = question
    name, overload = operator.split(".")
    call = getattr(getattr(torch.ops.aten, name), overload)
    given, named = made(arguments), {key: made(value) for key, value in keywords.items()}
    return bytes_taken(lambda: call(*given, **named))[0]


@pytest.fixture
def h200(open_session: Callable[..., Any]) -> Any:
    return open_session(1, "h200")


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize("operator", OPERATORS)
def test_takes_what_a_real_gpu_takes(operator: str) -> None:
    """Every call, to a block's slack or 3 %."""
    wrong = []
    for question, least, most in CALLS:
        if question[0] != operator:
            continue
        ours = ask(question)
        slack = max(MIB, 0.03 * least)
        if not least - slack <= ours <= most + slack:
            wrong.append((question, least, ours))
    assert not wrong


def test_there_are_calls_of_each_kind() -> None:
    counts: dict[str, int] = defaultdict(int)
    for question, _, _ in CALLS:
        counts[question[0]] += 1
    assert len(counts) >= 25 and counts["sum.dim_IntList"] >= 80


@pytest.mark.usefixtures("h200")
def test_the_memo_takes_the_same_again() -> None:
    x = torch.empty(4096, 3072, device="cuda")
    hits = library().memo_hits()
    first, _ = bytes_taken(lambda: x.sum(0))
    again, _ = bytes_taken(lambda: x.sum(0))
    assert first == again > 90 * MIB
    assert library().memo_hits() > hits


@pytest.mark.usefixtures("h200")
def test_truth_values_are_summed_as_a_copy_of_long_integers() -> None:
    x = torch.empty(1000, 1000, dtype=torch.bool, device="cuda")
    assert bytes_taken(lambda: x.sum(1))[0] >= 8 * x.numel()
    assert bytes_taken(lambda: x.long().sum(1))[0] < 9 * x.numel()


def test_none_without_cudas_choices(open_session: Callable[..., Any]) -> None:
    open_session(1, "h200", cuda_choices=False)
    x = torch.empty(4096, 3072, device="cuda")
    assert bytes_taken(lambda: x.sum(0))[0] == 0


@pytest.mark.usefixtures("h200")
def test_results_are_born_in_the_order_of_a_real_gpu() -> None:
    """Addresses of virtual GPUs rise. The first call runs on twins, the second by the memo."""
    x = torch.empty(64, 32, device="cuda")
    for _ in range(2):
        dropped, mask = torch.ops.aten.native_dropout(x, 0.1, True)
        assert mask.data_ptr() < dropped.data_ptr()
        kept, ones = torch.ops.aten.native_dropout(x, 0.1, False)
        assert kept.data_ptr() < ones.data_ptr()


@pytest.mark.usefixtures("h200")
def test_a_copy_in_order_comes_before_the_results() -> None:
    """The one that a norm makes of a tensor whose columns lie side by side."""
    x = torch.empty(1024, 2048, device="cuda").t()
    for _ in range(2):
        before = torch.empty(1, device="cuda").data_ptr()
        norm = torch.ops.aten.native_layer_norm(x, [1024], None, None, 1e-5)[0]
        assert norm.data_ptr() - before >= 8 * MIB
