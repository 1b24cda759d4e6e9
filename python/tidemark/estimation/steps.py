"""Follows optimizers: phases, categories, and the end some time after the wanted steps."""

from __future__ import annotations

from typing import Any, Callable

from torch.optim import Optimizer
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from tidemark.estimation.deadline import Deadline
from tidemark.estimation.labels import label
from tidemark.optimizer_steps import (
    LabelledStates,
    WantedSteps,
    state_tensors,
    steps_under_way,
    with_followed_closure,
)
from tidemark.sharding.sharded_parameters import kind_of
from tidemark.user_script import StepsDone
from tidemark.virtual_cuda.library import library


class OptimizerSteps:
    """Ends the script when every optimizer that steps has made `wanted` steps; 0 never does.

    With `further_seconds` it may go on for so long: what comes after training is often its peak.
    """

    def __init__(self, wanted: int, further_seconds: float, on_step: Callable[[int], None],
                 label_copies: Callable[[], None]) -> None:
        self._wanted = WantedSteps(wanted)
        self._further_seconds = further_seconds
        self._on_step = on_step
        self._label_copies = label_copies
        self._deadline = Deadline(StepsDone)
        self.are_made = False  # the wanted ones
        self._handles: list[Any] = []
        self._labelled = LabelledStates()

    @property
    def done(self) -> int:
        """Training steps: a forward begins one, the optimizer's step ends it."""
        return int(library().steps_done())

    @property
    def optimizers(self) -> int:
        return self._wanted.optimizers

    @property
    def further_seconds(self) -> float:
        """How long the script went on after the wanted steps."""
        return self._deadline.seconds

    def run(self, program: Callable[[], None]) -> None:
        """Runs it; raises StepsDone where it was ended."""
        try:
            program()
        finally:
            self._deadline.stop()

    def watch(self) -> None:
        self._handles = [
            register_optimizer_step_pre_hook(self._before),
            register_optimizer_step_post_hook(self._after),
        ]

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _before(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if optimizer not in self._labelled:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    label(parameter, f"{kind_of(parameter)}Parameter")
                    label(parameter.grad, f"{kind_of(parameter)}Gradient")
            label(state_tensors(optimizer), "OptimizerState")  # some make it with themselves
        self._label_copies()
        if steps_under_way() > 1:
            return None
        library().enter_optimizer()
        return with_followed_closure(library().set_in_closure, args, kwargs)

    def _after(self, optimizer: Optimizer, *_: Any) -> None:
        if library().has_born_in_optimizer() or optimizer not in self._labelled:
            label(state_tensors(optimizer), "OptimizerState")
            self._labelled.add(optimizer)
        if steps_under_way() > 1:
            return
        library().leave_optimizer()
        self._on_step(self.done)
        if self._wanted.are_made(optimizer) and not self.are_made:
            self._go_on()

    def _go_on(self) -> None:
        self.are_made = True
        if self._further_seconds <= 0:
            raise StepsDone
        self._deadline.start(self._further_seconds)
