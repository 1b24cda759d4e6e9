"""Every module of torch.nn and every operator, by PyTorch's own samples: what comes out and what its backward leaves.

Results and gradients must be there as on the CPU, in shape and dtype, in training and in evaluation. What the CPU
refuses is no sample.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from operator_samples import operators
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map

Facts = list[Any]
Build = Callable[[], Callable[..., Any]]
SAMPLES = 4  # of each operator

LEFT_OUT = {
    "as_strided_partial_views",  # of a storage that is larger than its tensor
    "tensor_split",  # wants the places to split at on the CPU
    # CUDA's kernels have room for a batch's statistics in evaluation, too.
    "native_batch_norm", "_native_batch_norm_legit",
    # The loss of one row: PyTorch's shapes without a device say one number in a row, its kernels one number.
    "nn.MultiLabelMarginLoss", "nn_functional_multilabel_margin_loss",
}


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def kind(tensor: torch.Tensor | None) -> Any:
    return tensor is not None and (tuple(tensor.shape), tensor.dtype)


def facts_of(build: Build, args: Any, kwargs: Any, device: str) -> Facts:
    """Of the results, and of the gradients of parameters and arguments."""
    args, kwargs = tree_map(
        lambda leaf: leaf.detach().to(device).requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.Tensor) else leaf, (args, kwargs))
    function = build()
    parameters: list[torch.Tensor] = []
    if isinstance(function, torch.nn.Module):
        parameters = list(function.to(device).parameters())
    results = tensors(function(*args, **kwargs))
    wanted = [result for result in results if result.requires_grad and result.is_floating_point()]
    if wanted:
        torch.autograd.backward(wanted, [torch.ones_like(result) for result in wanted])
    leaves = [leaf for leaf in tensors((args, kwargs)) if leaf.requires_grad and leaf.is_leaf]
    return [*map(kind, results), *(kind(leaf.grad) for leaf in (*parameters, *leaves))]


def differing(calls: Iterator[tuple[str, Build, Any, Any]]) -> tuple[int, list[str]]:
    made, problems = 0, []
    for name, build, args, kwargs in calls:
        try:
            expected = facts_of(build, args, kwargs, "cpu")
        except Exception:
            continue
        made += 1
        try:
            ours = facts_of(build, args, kwargs, "cuda")
            if ours != expected:
                problems.append(f"{name}: {ours} on a virtual GPU, {expected} on the CPU")
        except Exception as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
    return made, problems


def module_calls() -> Iterator[tuple[str, Build, Any, Any]]:
    for info, training in itertools.product(module_db, (True, False)):
        if info.name in LEFT_OUT:
            continue
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True,
                                         training=training)
        for sample in inputs:
            if sample.forward_input is None:
                continue
            made, given = sample.constructor_input, sample.forward_input

            def build(info: Any = info, made: Any = made, training: bool = training) -> Callable[..., Any]:
                return info.module_cls(*made.args, **made.kwargs).train(training)  # type: ignore[no-any-return]

            yield f"{info.name} {made.kwargs}", build, given.args, given.kwargs


def operator_calls() -> Iterator[tuple[str, Build, Any, Any]]:
    for op in operators():
        if torch.float32 not in op.dtypes or op.formatted_name in LEFT_OUT:
            continue
        samples = op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd)
        for sample in itertools.islice(samples, SAMPLES):
            yield op.formatted_name, lambda op=op: op.op, (sample.input, *sample.args), sample.kwargs


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize(("calls", "least"), [(module_calls, 3000), (operator_calls, 1500)])
def test_each_trains_as_on_the_cpu(calls: Callable[[], Iterator[Any]], least: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        made, problems = differing(calls())
    assert not problems, "\n".join(problems)
    assert made > least
