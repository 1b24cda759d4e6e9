"""Follows the optimizer: phases, categories, and the end after the wanted number of steps."""

from __future__ import annotations

from typing import Any, Callable

import torch

from tidemark.estimation.labels import label
from tidemark.user_script import StepsDone
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


class OptimizerSteps:
    """Counts each optimizer's steps; done when every optimizer that steps has made `wanted`."""

    def __init__(self, wanted: int, on_step: Callable[[int], None]) -> None:
        self.wanted = wanted
        self.done = 0
        self._on_step = on_step
        self._counts: dict[int, int] = {}
        self._handles: list[Any] = []
        self._labelled: dict[int, tuple[int, int]] = {}
        self._patches = Patches()

    def watch(self) -> None:
        from torch.optim.optimizer import (
            register_optimizer_step_post_hook,
            register_optimizer_step_pre_hook,
        )

        self._handles = [
            register_optimizer_step_pre_hook(self._before),
            register_optimizer_step_post_hook(self._after),
        ]

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._patches.restore()

    def _before(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if self._labelled.get(id(optimizer)) != sizes_of(optimizer):
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    label(parameter, "Parameter")
                    label(parameter.grad, "Gradient")
            self._label_as_it_comes(type(optimizer))
        library().enter_optimizer()

    def _label_as_it_comes(self, kind: type[torch.optim.Optimizer]) -> None:
        """PyTorch's optimizers make their state at the beginning of the first step: from then on it
        is state, not scratch. That of others is labelled after the step."""
        make_state = vars(kind).get("_init_group")
        if make_state is None or hasattr(make_state, "is_labelling"):
            return

        def labelling(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
            made = make_state(optimizer, *args, **kwargs)
            if self._labelled.get(id(optimizer)) != sizes_of(optimizer):
                label_state(optimizer)
            return made

        labelling.is_labelling = True  # type: ignore[attr-defined]
        self._patches.set(kind, "_init_group", labelling)

    def _after(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        library().leave_optimizer()
        if self._labelled.get(id(optimizer)) != sizes_of(optimizer):
            label_state(optimizer)
            self._labelled[id(optimizer)] = sizes_of(optimizer)
        self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1
        self.done = min(self._counts.values())
        self._on_step(self.done)
        if self.wanted and self.done >= self.wanted:
            raise StepsDone


def label_state(optimizer: torch.optim.Optimizer) -> None:
    for state in optimizer.state.values():
        label(state, "OptimizerState")


def sizes_of(optimizer: torch.optim.Optimizer) -> tuple[int, int]:
    """Parameters and states stay what they are from step to step, unless there are more of them."""
    return sum(len(group["params"]) for group in optimizer.param_groups), len(optimizer.state)
