"""Programs that reach their kernels in unusual ways: both trackers agree on what operators leave."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from comparing import NothingMode, Rows, plain
from torch.distributed._tools.mem_tracker import MemTracker as TorchMemTracker
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from tidemark.compat.mem_tracker import MemTracker

Run = Callable[[torch.Tensor, torch.Tensor], Any]


@torch.library.custom_op("tidemark_tests::squared", mutates_args=())
def squared(x: torch.Tensor) -> torch.Tensor:
    doubled = x * 2
    return (doubled * 3 * doubled).clone()


squared.register_autograd(
    lambda ctx, gradient: gradient * ctx.saved_tensors[0] * 2,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)

LIBRARY = torch.library.Library("tidemark_tests", "FRAGMENT")
LIBRARY.define("bare(Tensor x) -> Tensor")
LIBRARY.impl("bare", lambda x: (x * 2 * 3).sort()[0], "CPU")


class OwnFunction(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
        doubled = x * 2
        context.save_for_backward(doubled)
        return doubled * x

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * context.saved_tensors[0] * 2


def custom_operator(x: torch.Tensor, weight: torch.Tensor) -> Any:
    squared(weight).sum().backward()


def operator_without_autograd(x: torch.Tensor, weight: torch.Tensor) -> Any:
    return torch.ops.tidemark_tests.bare(x)


def own_function(x: torch.Tensor, weight: torch.Tensor) -> Any:
    OwnFunction.apply(weight).sum().backward()


def saved_elsewhere(x: torch.Tensor, weight: torch.Tensor) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved * 1, lambda saved: saved * 2):
        ((x @ weight).relu() * 3).sum().backward()


def inference_then_training(x: torch.Tensor, weight: torch.Tensor) -> Any:
    with torch.inference_mode():
        kept = (x @ weight).relu() * 2
    (x @ weight).relu().sum().backward()
    return kept


def functorch(x: torch.Tensor, weight: torch.Tensor) -> Any:
    return torch.func.vmap(torch.func.grad(lambda row: ((row @ weight) ** 2).sum()))(x)


def gradient_scaler(x: torch.Tensor, weight: torch.Tensor) -> Any:
    scaler = torch.amp.GradScaler("cpu")
    with torch.autocast("cpu", torch.bfloat16):
        loss = (x @ weight).sum()
    scaler.scale(loss).backward()
    scaler.step(torch.optim.SGD([weight], 0.1))
    scaler.update()


def tensors_of_numbers(x: torch.Tensor, weight: torch.Tensor) -> Any:
    kept = [torch.tensor(3.0), torch.tensor([1.0] * 50), torch.as_tensor([1, 2]), x[[0, 1]]]
    return kept, 1.0 - (weight * 2.0) ** 2.0, torch.where(x > 0, 1.0, 0.0), torch.full((9,), 2.0)


def storage_taken_over(x: torch.Tensor, weight: torch.Tensor) -> Any:
    taken, grown = x * 2, x * 3
    taken.set_(grown)
    grown.resize_(100, 100)
    return taken, grown


def error_in_a_kernel(x: torch.Tensor, weight: torch.Tensor) -> Any:
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.cholesky(-torch.eye(4))
    return x * 2 * 3


def selective_checkpoint(x: torch.Tensor, weight: torch.Tensor) -> Any:
    def policy(context: Any, operator: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        is_product = operator == torch.ops.aten.mm.default
        return CheckpointPolicy.MUST_SAVE if is_product else CheckpointPolicy.PREFER_RECOMPUTE

    checkpoint(lambda given: ((given @ weight).relu() @ weight).sin(), x, use_reentrant=False,
               context_fn=lambda: create_selective_checkpoint_contexts(policy)).sum().backward()


PROGRAMS: list[Run] = [
    custom_operator, operator_without_autograd, own_function, saved_elsewhere,
    inference_then_training, functorch, gradient_scaler, tensors_of_numbers, storage_taken_over,
    error_in_a_kernel, selective_checkpoint,
]
# A mode comes with it, and autograd takes other ways under modes (D23).
WITH_A_MODE = {selective_checkpoint}


def run_under(make: Callable[[], Any], run: Run, *modes: Any) -> tuple[Rows, Rows]:
    torch.manual_seed(0)
    x, weight = torch.randn(32, 64), torch.randn(64, 64, requires_grad=True)
    tracker = make()
    tracker.track_external(x, weight)
    with tracker:
        for mode in modes:
            mode.__enter__()
        kept = run(x, weight)
        for mode in reversed(modes):
            mode.__exit__(None, None, None)
        current = plain(tracker.get_tracker_snapshot("current"))
    del kept
    return current, plain(tracker.get_tracker_snapshot("peak"))


@pytest.mark.parametrize("run", PROGRAMS)
def test_both_trackers_agree(run: Run) -> None:
    theirs = run_under(TorchMemTracker, run)
    assert run_under(MemTracker, run, NothingMode()) == theirs
    if run not in WITH_A_MODE:
        assert run_under(MemTracker, run) == theirs


def test_operators_of_another_thread_count_too() -> None:
    """PyTorch's tracker does not see them; the same program on one thread has the answer."""

    def train(x: torch.Tensor, weight: torch.Tensor) -> None:
        ((x @ weight).relu().sort()[0] * 2).sum().backward()

    def train_elsewhere(x: torch.Tensor, weight: torch.Tensor) -> None:
        thread = threading.Thread(target=train, args=(x, weight))
        thread.start()
        thread.join()

    assert run_under(MemTracker, train_elsewhere) == run_under(MemTracker, train)


def test_operators_are_known_again_after_each_unusual_way() -> None:
    """One tracker through all of them: what is left behind and the peak are as if each came alone."""
    for first in PROGRAMS:
        def both(x: torch.Tensor, weight: torch.Tensor, first: Run = first) -> Any:
            first(x, weight)
            weight.grad = None
            return torch.randn(300, 300).sort()

        current, peak = run_under(MemTracker, both)
        assert (current, peak) == run_under(TorchMemTracker, both), first
