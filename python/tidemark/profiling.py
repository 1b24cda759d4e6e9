"""`tidemark.profile`: runs torch.profiler over a block and makes a tape of what it recorded."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import nn, optim

import tidemark
from tidemark.compat import memory_profiler  # it checks that torch has what is needed
from tidemark.profiled_modules import module_paths
from tidemark.run_facts import (
    end_facts,
    ending_of,
    place_among_ranks,
    start_facts,
    write_meta,
)
from tidemark.tape_saving import check_can_save, of_rank
from tidemark.tensor_parts import parts_of

if TYPE_CHECKING:
    from tidemark._profile import Profile, ToldOwner, ToldParameter, ToldTensor

_FLAGS: dict[str, Any] = {"record_shapes": True, "profile_memory": True, "with_stack": True}


class Profiling:
    """A block that is profiled; a context manager that is entered once.

    Afterwards `tape` has the answers, `memory_profile` PyTorch's view of the same, and `profile` is
    the finished torch.profiler.profile.
    """

    def __init__(self, *external: nn.Module | optim.Optimizer, save: str = "") -> None:
        self._owners = external
        self.save = of_rank(save, *place_among_ranks())
        check_can_save(self.save)
        self.profile = torch.profiler.profile(**_FLAGS)
        self._told: list[ToldOwner] = []
        self._paths: dict[int, str] = {}
        self._meta: dict[str, str] = {}
        self._started: float | None = None
        self._is_over = False

    def __enter__(self) -> Profiling:
        if self._started is not None:
            raise RuntimeError("a profile cannot be entered again; make a new one")
        self._started = time.monotonic()
        untyped: Any = self.profile
        untyped.__enter__()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        untyped: Any = self.profile
        untyped.__exit__(kind, error, trace)
        self._is_over = True
        self._told = [told_owner(owner) for owner in self._owners]
        self._paths = self._find_paths()
        seconds = time.monotonic() - (self._started or 0.0)
        optimizers = sum(isinstance(owner, optim.Optimizer) for owner in self._owners)
        facts = start_facts("profile", *place_among_ranks())
        facts |= end_facts(ending_of(error), 0, optimizers, seconds)
        del facts["run.steps"]  # the tape counts them itself
        write_meta(self._meta.__setitem__, facts)
        if self.save:
            self.tape.save(self.save)

    def _find_paths(self) -> dict[int, str]:
        from tidemark import _profile

        called = _profile.called_modules(self._results)
        return module_paths(called, (one for one in self._owners if isinstance(one, nn.Module)))

    @property
    def _results(self) -> Any:
        if not self._is_over or self.profile.profiler is None:
            raise RuntimeError("the profile is not over: leave its block first")
        return self.profile.profiler.kineto_results

    @cached_property
    def _analysis(self) -> Profile:
        from tidemark import _profile

        return _profile.analyse(self._results, find_identity=True, told=self._told, paths=self._paths)

    @cached_property
    def tape(self) -> tidemark.Tape:
        """What happened to memory, with the categories that data flow tells."""
        return self._analysis.tape(self._meta)

    @cached_property
    def memory_profile(self) -> memory_profiler.MemoryProfile:
        """The same run in PyTorch's words, and with PyTorch's identities of tensors."""
        return memory_profiler.MemoryProfile(self._results)

    def report(self, depth: int = 3, width: int = 80) -> str:
        """Peak, what it is made of, timeline and modules, as text."""
        return self.tape.report(depth=depth).to_text(width=width, tape=self.save)


def told_owner(owner: nn.Module | optim.Optimizer) -> ToldOwner:
    """A model or an optimizer as it is now. PyTorch's tracer sees only plain tensors; here those
    inside of DTensors and other wrappers are named, too."""
    parameters: list[ToldParameter] = []
    if isinstance(owner, optim.Optimizer):
        for group in owner.param_groups:
            for at, parameter in enumerate(group["params"]):
                parameters += told_parameters(str(at), parameter, owner.state.get(parameter, {}))
    else:
        for name, parameter in owner.named_parameters():
            parameters += told_parameters(name, parameter, {})
    return type(owner).__name__, isinstance(owner, optim.Optimizer), parameters


def told_parameters(
    name: str, parameter: torch.Tensor, state: dict[str, Any]
) -> list[ToldParameter]:
    """One for each plain tensor inside; the states stay with the first."""
    gradients = told_tensors(parameter.grad)
    states = [
        (key, told)
        for key, value in state.items() if isinstance(value, torch.Tensor)
        for told in told_tensors(value)
    ]  # fmt: skip
    found: list[ToldParameter] = []
    for at, part in enumerate(told_tensors(parameter)):
        gradient = gradients[at] if at < len(gradients) else None
        found.append((name, part, gradient, states if at == 0 else []))
    return found


def told_tensors(tensor: torch.Tensor | None) -> list[ToldTensor]:
    if tensor is None:
        return []
    return [
        (part.untyped_storage().data_ptr(), part.element_size(), tuple(part.size()),
         part.stride(), str(part.device))
        for part in parts_of(tensor)
    ]  # fmt: skip
