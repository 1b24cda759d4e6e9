"""Which attention kernels a GPU says it can use, for dense and for jagged tensors: questions, and its answers.

    python tests/phantom/usable_attention.py      # on a GPU; prints what usable_attention.json holds

An answer is one digit: 1 for flash, 2 for memory-efficient, 4 for cuDNN, added up.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import torch
from attention_questions import ALLOWED, DTYPES, HEAD_SIZES, MASKS, Question, answer, machine
from attention_questions import mask_of, tensors_of
from torch.backends import cuda

LAYOUTS = ("transposed", "jagged")

# What the grid of attention_questions.py leaves alone, one thing at a time.
ODD = (
    {"batches": (2, 1)},
    {"heads": (8, 3)},
    {"heads": (8, 2), "value_heads": 4},
    {"value_heads": 4},
    {"lengths": (128, 1)},
    {"lengths": (1, 1)},
    {"lengths": (1, 128), "dropout": 0.1},
    {"mask": "of two dimensions"},
    {"mask": "of three dimensions"},
    {"mask": "of one column"},
    {"mask": "of one column, expanded"},
    {"head_sizes": (1, 1), "layout": "strided"},
    {"layout": "strided"},
    {"layout": "contiguous"},
    {"layout": "three dimensions"},
    {"deterministic": True},
    {"deterministic": True, "warns_only": True},
)
ODD_AND_JAGGED = (
    {"layout": "jagged of three dimensions"},
    {"layout": "jagged heads"},
    {"layout": "jagged", "heads": (8, 2)},
    {"layout": "jagged", "value_heads": 4},
    {"layout": "jagged", "lengths": (1, 128), "dropout": 0.1},
    {"layout": "jagged", "deterministic": True},
    {"layout": "jagged", "deterministic": True, "warns_only": True},
)


def dense_and_odd() -> Iterator[Question]:
    for dtype, what in itertools.product(DTYPES, ODD):
        yield Question(dtype, **what)  # type: ignore[arg-type]


def questions() -> Iterator[Question]:
    for dtype, layout, sizes, lengths, causal, dropout, trains in itertools.product(
            DTYPES, LAYOUTS, HEAD_SIZES, ((128, 128), (128, 256)), (False, True), (0.0, 0.1),
            (True, False)):
        yield Question(dtype, sizes, lengths, layout=layout, causal=causal, dropout=dropout,
                       trains=trains)
    for dtype, layout, allowed in itertools.product(DTYPES, LAYOUTS, ALLOWED):
        yield Question(dtype, layout=layout, allowed=allowed)
    for dtype, sizes, mask in itertools.product(DTYPES, ((64, 64), (60, 60)), MASKS):
        yield Question(dtype, sizes, mask=mask)
    for layout, device in itertools.product(LAYOUTS, ("cuda", "cpu")):
        yield Question("f64", layout=layout, device=device)
        yield Question("bf16", layout=layout, device=device)
    for dtype, what in itertools.product(DTYPES, ODD_AND_JAGGED):
        yield Question(dtype, **what)  # type: ignore[arg-type]
    yield from dense_and_odd()


def usable(question: Question) -> str:
    grouped = question.heads[0] != question.heads[1]
    params = cuda.SDPAParams(*tensors_of(question), mask_of(question), question.dropout,
                             question.causal, grouped)
    asked = (cuda.can_use_flash_attention, cuda.can_use_efficient_attention, cuda.can_use_cudnn_attention)
    return str(sum(1 << place for place, can_use in enumerate(asked) if can_use(params)))


def main() -> None:
    print(json.dumps({
        **machine(),
        "usable": "".join(answer(question, usable) for question in questions()),
        "chosen": "".join(answer(question) for question in dense_and_odd()),
    }))


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main()
