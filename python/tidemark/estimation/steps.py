"""Follows optimizers: phases, categories, and the end after the wanted number of steps."""

from __future__ import annotations

from typing import Any, Callable
from weakref import WeakKeyDictionary

from torch.optim import Optimizer
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from tidemark.estimation.labels import label
from tidemark.optimizer_steps import WantedSteps, state_tensors, steps_under_way
from tidemark.user_script import StepsDone
from tidemark.virtual_cuda.library import library


class OptimizerSteps:
    """Ends the script when every optimizer that steps has made `wanted` steps; 0 never does."""

    def __init__(self, wanted: int, on_step: Callable[[int], None]) -> None:
        self._wanted = WantedSteps(wanted)
        self._on_step = on_step
        self._handles: list[Any] = []
        self._labelled: WeakKeyDictionary[Optimizer, tuple[int, int]] = WeakKeyDictionary()

    @property
    def done(self) -> int:
        """Training steps: a forward begins one, the optimizer's step ends it."""
        return int(library().steps_done())

    def watch(self) -> None:
        self._handles = [
            register_optimizer_step_pre_hook(self._before),
            register_optimizer_step_post_hook(self._after),
        ]

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _before(self, optimizer: Optimizer, *_: Any) -> None:
        if self._labelled.get(optimizer) != sizes_of(optimizer):
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    label(parameter, "Parameter")
                    label(parameter.grad, "Gradient")
        if steps_under_way() == 1:
            library().enter_optimizer()

    def _after(self, optimizer: Optimizer, *_: Any) -> None:
        if library().has_born_in_optimizer() or self._labelled.get(optimizer) != sizes_of(optimizer):
            label(state_tensors(optimizer), "OptimizerState")
            self._labelled[optimizer] = sizes_of(optimizer)
        if steps_under_way() > 1:
            return
        library().leave_optimizer()
        self._on_step(self.done)
        if self._wanted.are_made(optimizer):
            raise StepsDone


def sizes_of(optimizer: Optimizer) -> tuple[int, int]:
    """Parameters and states stay what they are from step to step, unless there are more of them."""
    return sum(len(group["params"]) for group in optimizer.param_groups), len(optimizer.state)
