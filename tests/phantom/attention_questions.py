"""Which attention kernel CUDA takes: a grid of questions, and on a real GPU its answers.

    python tests/phantom/attention_questions.py      # on a GPU; prints what attention_answers.json holds

An answer is one digit, in the order of the grid: 0 math, 1 flash, 2 memory-efficient, 3 cuDNN, and a
minus where there is none (PyTorch raises).
"""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
TYPES = DTYPES | {"f64": torch.float64}
# Of queries and keys, and of values.
HEAD_SIZES = ((4, 4), (60, 60), (64, 64), (72, 72), (128, 128), (192, 128), (200, 200), (256, 256),
              (264, 264))
LENGTHS = ((128, 128), (128, 256), (256, 128), (1, 128), (100, 101))  # of queries, of keys
MASKS = ("none", "bool", "bias", "bias with gradient", "bias of one row")
# Which kernels the user allows, and whether their order is the user's.
ALLOWED = {
    "all": None,
    "math only": [SDPBackend.MATH],
    "no cuDNN": [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH],
    "efficient first": [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION,
                        SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH],
    "math first": [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION],
}


@dataclass(frozen=True)
class Question:
    dtype: str = "bf16"
    head_sizes: tuple[int, int] = (64, 64)
    lengths: tuple[int, int] = (128, 128)
    mask: str = "none"
    causal: bool = False
    dropout: float = 0.0
    heads: tuple[int, int] = (8, 8)  # fewer for keys and values: grouped
    trains: bool = True
    deterministic: bool = False
    allowed: str = "all"
    layout: str = "transposed"
    # What the grid leaves alone (usable_attention.py).
    value_heads: int = 0  # other than the keys'
    batches: tuple[int, int] = (2, 2)  # of queries, of keys and values
    warns_only: bool = False  # of what is not deterministic
    device: str = "cuda"


def questions() -> Iterator[Question]:
    """What matters together, in full; the rest one at a time."""
    for dtype, sizes, lengths, mask, causal, dropout, heads, trains in itertools.product(
            DTYPES, HEAD_SIZES, LENGTHS, MASKS, (False, True), (0.0, 0.1), ((8, 8), (8, 2)),
            (True, False)):
        yield Question(dtype, sizes, lengths, mask, causal, dropout, heads, trains)
    for dtype, sizes, mask, causal, allowed in itertools.product(
            DTYPES, HEAD_SIZES, MASKS, (False, True), ALLOWED):
        yield Question(dtype, sizes, (128, 128), mask, causal, allowed=allowed)
    for dtype, sizes, mask, causal, trains in itertools.product(
            DTYPES, HEAD_SIZES, MASKS, (False, True), (True, False)):
        yield Question(dtype, sizes, (128, 128), mask, causal, trains=trains, deterministic=True)
    for dtype, sizes, layout in itertools.product(
            DTYPES, HEAD_SIZES, ("contiguous", "strided", "three dimensions", "empty")):
        yield Question(dtype, sizes, layout=layout)


def tensor_of(question: Question, heads: int, length: int, size: int, batch: int = 2) -> torch.Tensor:
    how = {"dtype": TYPES[question.dtype], "device": question.device}
    if question.layout.startswith("jagged"):
        return jagged_of(question, torch.empty(2 * length, heads, size, **how), length)
    if question.layout == "three dimensions":
        made = torch.empty(heads, length, size, **how)
    elif question.layout == "empty":
        made = torch.empty(0, heads, length, size, **how)
    elif question.layout == "strided":
        made = torch.empty(batch, heads, length, 2 * size, **how)[..., ::2]
    elif question.layout == "contiguous":
        made = torch.empty(batch, heads, length, size, **how)
    else:
        made = torch.empty(batch, length, heads, size, **how).transpose(1, 2)
    return made.requires_grad_(question.trains)


def jagged_of(question: Question, rows: torch.Tensor, length: int) -> torch.Tensor:
    """Of two parts, one longer than the other: both together are twice the length."""
    ends = torch.tensor([0, length + length // 2, 2 * length], device=question.device)
    if question.layout == "jagged of three dimensions":
        return torch.nested.nested_tensor_from_jagged(rows[:, 0].requires_grad_(question.trains), ends)
    made = torch.nested.nested_tensor_from_jagged(rows.requires_grad_(question.trains), ends)
    return made if question.layout == "jagged heads" else made.transpose(1, 2)


def mask_of(question: Question) -> torch.Tensor | None:
    queries, keys = question.lengths
    dtype = TYPES[question.dtype]
    match question.mask:
        case "of two dimensions":
            return torch.zeros(queries, keys, dtype=dtype, device="cuda")
        case "of three dimensions":
            return torch.zeros(8, queries, keys, dtype=dtype, device="cuda")
        case "of one column":
            return torch.zeros(2, 1, queries, 1, dtype=dtype, device="cuda")
        case "of one column, expanded":
            return torch.zeros(2, 1, queries, 1, dtype=dtype, device="cuda").expand(2, 1, queries, keys)
        case "bool":
            return torch.ones(2, 1, queries, keys, dtype=torch.bool, device="cuda")
        case "bias":
            return torch.zeros(1, 8, queries, keys, dtype=dtype, device="cuda")
        case "bias with gradient":
            return torch.zeros(1, 8, queries, keys, dtype=dtype, device="cuda", requires_grad=True)
        case "bias of one row":
            return torch.zeros(2, 1, 1, keys, dtype=dtype, device="cuda")
    return None


def tensors_of(question: Question) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    heads, groups = question.heads
    (queries, keys), (size, value_size) = question.lengths, question.head_sizes
    batch, batch_of_keys = question.batches
    return (tensor_of(question, heads, queries, size, batch),
            tensor_of(question, groups, keys, size, batch_of_keys),
            tensor_of(question, question.value_heads or groups, keys, value_size, batch_of_keys))


def chosen(question: Question) -> str:
    heads, groups = question.heads
    q, k, v = tensors_of(question)
    try:
        return str(torch._fused_sdp_choice(
            q, k, v, mask_of(question), question.dropout, question.causal,
            enable_gqa=heads != groups))
    except RuntimeError:
        return "-"


def answer(question: Question, ask: Callable[[Question], str] = chosen) -> str:
    torch.use_deterministic_algorithms(question.deterministic, warn_only=question.warns_only)
    try:
        allowed = ALLOWED[question.allowed]
        if allowed is None:
            return ask(question)
        with sdpa_kernel(allowed, set_priority="first" in question.allowed):
            return ask(question)
    finally:
        torch.use_deterministic_algorithms(False)


def machine() -> dict[str, str | int | None]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split(", ")
    return {"gpu": name, "driver": driver.strip(), "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version()}


def main() -> None:
    print(json.dumps({**machine(), "answers": "".join(answer(question) for question in questions())}))


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main()
