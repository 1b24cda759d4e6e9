"""Follows the optimizer: phases, categories, and the end after the wanted number of steps."""

from __future__ import annotations

from typing import Any, Callable

import torch

from tidemark.virtual_cuda.library import library


class StepsDone(BaseException):
    """Ends the script after its last wanted step; no `except Exception` of the user stops it."""


class OptimizerSteps:
    """Counts each optimizer's steps; done when every optimizer that steps has made `wanted`."""

    def __init__(self, wanted: int, on_step: Callable[[int], None]) -> None:
        self.wanted = wanted
        self.done = 0
        self._on_step = on_step
        self._counts: dict[int, int] = {}
        self._handles: list[Any] = []
        self._labelled: dict[int, tuple[int, int]] = {}

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

    def _before(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        is_new = self._labelled.get(id(optimizer)) != sizes_of(optimizer)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                label(parameter.grad, "Gradient")
                if is_new:
                    label(parameter, "Parameter")
        library().enter_optimizer()

    def _after(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        library().leave_optimizer()
        if self._labelled.get(id(optimizer)) != sizes_of(optimizer):
            for state in optimizer.state.values():
                for value in state.values() if isinstance(state, dict) else ():
                    label(value, "OptimizerState")
            self._labelled[id(optimizer)] = sizes_of(optimizer)
        self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1
        self.done = min(self._counts.values())
        self._on_step(self.done)
        if self.wanted and self.done >= self.wanted:
            raise StepsDone


def sizes_of(optimizer: torch.optim.Optimizer) -> tuple[int, int]:
    """Parameters and states stay what they are from step to step, unless there are more of them."""
    return sum(len(group["params"]) for group in optimizer.param_groups), len(optimizer.state)


def label(value: Any, category: str) -> None:
    """Gives a tensor's storage its category; anything else is left alone."""
    if not isinstance(value, torch.Tensor) or not value.is_cuda:
        return
    if hasattr(value, "to_local"):
        value = value.to_local()
    if value.layout == torch.strided:
        library().label(value.untyped_storage()._cdata, category)
