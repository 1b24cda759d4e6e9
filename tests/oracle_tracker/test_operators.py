"""Both trackers agree on PyTorch's own catalogue of operators: forward, and backward where there is one."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from comparing import NothingMode, Recorded, Rows, plain
from sample_arguments import sample_arguments
from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves

from tidemark.compat.mem_tracker import MemTracker

LEFT_OUT = (
    "jiterator", "triton", "torch.ops.",  # run by another compiler, or only for testing
    "sparse",  # PyTorch's tracker cannot look at them (D9)
)
OPERATORS = {
    op.formatted_name: op
    for op in op_db
    if op.dtypes and not any(word in op.name for word in LEFT_OUT)
}
# A gradient of zeros that has no memory: PyTorch's tracker counts it.
ZEROS_WITHOUT_MEMORY = {"sgn"}
# It calls a module twice, which PyTorch's tracker refuses.
REFUSED = {"nn_functional_triplet_margin_with_distance_loss"}
# Made as numbers are that an operator is given: four bytes that only records can tell from those.
LIKE_NUMBERS = {"scalar_tensor"}
SAMPLES = 2


def samples_of(op: Any) -> Iterator[Any]:
    dtype = torch.float32 if torch.float32 in op.dtypes else min(op.dtypes, key=str)
    differentiable = op.supports_autograd and dtype.is_floating_point
    torch.manual_seed(0)
    # Neighbours in the list are much alike.
    return itertools.islice(sample_arguments(op, dtype, differentiable), 0, None, 3)


def tensors_in(*values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def backward_of(results: Any) -> None:
    roots = [
        tensor
        for tensor in tensors_in(results)
        if tensor.requires_grad and (tensor.is_floating_point() or tensor.is_complex())
    ]
    if roots:
        torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])


def run_under(make: Callable[[], Any], op: Any, sample: Any, way: Any) -> list[Rows] | str:
    """What is alive after forward and after backward, and the peak; or the error."""
    given = tensors_in(sample.input, sample.args, sample.kwargs)
    torch.default_generator.manual_seed(0)  # of no GPU, for which each seed waits with its stack
    tracker = make()
    tracker.track_external(*given)
    try:
        with tracker, way:
            results = op(sample.input, *sample.args, **sample.kwargs)
            after_forward = plain(tracker.get_tracker_snapshot("current"))
            backward_of(results)
            after_backward = plain(tracker.get_tracker_snapshot("current"))
    except Exception as error:
        return type(error).__name__
    finally:
        for tensor in given:
            tensor.grad = None
    return [after_forward, after_backward, plain(tracker.get_tracker_snapshot("peak"))]


@pytest.mark.parametrize("name", OPERATORS)
def test_both_trackers_and_both_ways_agree(name: str) -> None:
    op = OPERATORS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in itertools.islice(samples_of(op), SAMPLES):
            theirs = run_under(TorchMemTracker, op, sample, contextlib.nullcontext())
            if name not in ZEROS_WITHOUT_MEMORY | REFUSED:
                assert run_under(MemTracker, op, sample, NothingMode()) == theirs
            by_records = run_under(MemTracker, op, sample, Recorded())
            if name not in LIKE_NUMBERS:
                assert run_under(MemTracker, op, sample, contextlib.nullcontext()) == by_records
