"""Follows a program's modules, parameters and optimizers, and tells the C++ tracker.

The hooks on modules and gradients are C++; Python runs when a module is met for the first time and
around optimizer steps, never per operator.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn, optim
from torch.nn.parameter import is_lazy

from tidemark.ddp_buckets import DdpBuckets
from tidemark.lazy_parameters import LazyParameters
from tidemark.module_copies import ModuleCopies
from tidemark.module_names import ModuleNames, wrapped_by
from tidemark.optimizer_steps import (
    LabelledStates,
    state_tensors,
    steps_under_way,
    tensors_below,
    with_followed_closure,
)
from tidemark.recording.compiler import hear_compiler
from tidemark.recording.gpu_births import hear_gpus
from tidemark.recording.gradients import FollowedGradients
from tidemark.recording.hook_tables import GlobalHooks
from tidemark.recording.library import _recorder, inner_tensors
from tidemark.recording.made_storages import MadeStorages
from tidemark.recording.pytorch_names import PyTorchNames
from tidemark.recording.resizes import ResizeFollower
from tidemark.recording.sharded_labels import GradientsOnly, ShardedLabels
from tidemark.recording.telling import warn
from tidemark.sharding.sharded_memory import ShardedMemory
from tidemark.sharding.sharded_parameters import by_kind, remember_parameters


class FollowedModule:
    """A module the tracker has met: its number in C++, and what its owner keeps about it."""

    __slots__ = ("alive", "number", "stats", "is_labelled")

    def __init__(self, alive: weakref.ref[nn.Module], number: int) -> None:
        self.alive = alive
        self.number = number
        self.stats: Any = None
        self.is_labelled = False


class Follower:
    """Hooks for one tracker; `meet` makes the statistics of a module that has none."""

    def __init__(self, tracker: Any, meet: Callable[[FollowedModule, str], Any],
                 *, as_pytorch: bool) -> None:
        self.tracker = tracker
        self.names = PyTorchNames() if as_pytorch else ModuleNames()
        self._as_pytorch = as_pytorch
        self._meet = meet
        self.calls = _recorder.ModuleCalls(tracker, not as_pytorch)
        self.gradients = FollowedGradients(tracker, as_pytorch=as_pytorch)
        self._modules: dict[int, FollowedModule] = {}
        self.on_step: Callable[[optim.Optimizer], None] = lambda optimizer: None
        self._in_step = False
        self._unwatched: dict[int, Any] = {}
        self._hooks = GlobalHooks()
        self._resizes = ResizeFollower()
        self._made = MadeStorages()
        self._buckets = DdpBuckets(tracker.set_purpose)
        self._copies = ModuleCopies()
        self._lazy = LazyParameters()
        self._states = LabelledStates()
        self._sharded = ShardedMemory(
            GradientsOnly(self.gradients, self.give_up) if as_pytorch
            else ShardedLabels(self))
        self._has_told_end = False
        self.hears_gpus = True  # no GPU's allocator has refused to tell of births

    # -- start and stop ---------------------------------------------------------------------

    def start(self, *, outputs: bool = False) -> None:
        """All of it, or nothing."""
        try:
            self._start(outputs)
        except BaseException:
            self.stop()
            raise

    def _start(self, outputs: bool) -> None:
        self.tracker.start(outputs)
        for known in list(self._modules.values()):
            known.is_labelled = False
        self.calls.start(self._prepare, self.give_up)
        self._hooks.before_forward(_untraced_pre_hook(self.calls.before_forward))
        self._hooks.after_forward(_untraced_hook(self.calls.after_forward))
        self._hooks.before_step(self.before_step)
        self._hooks.after_step(self.after_step)
        self._resizes.start()
        self._made.start()
        self._lazy.start()
        if not self._as_pytorch:
            self._buckets.start()
            self._copies.start()
        hear_gpus(self._tell_unheard)
        if not self._as_pytorch and not outputs:
            self.tracker.adopt_cuda_memory()

    def stop(self) -> None:
        self.tracker.stop()
        self.calls.stop()
        self._resizes.stop()
        self._made.stop()
        self._buckets.stop()
        self._copies.stop()
        self._lazy.stop()
        self._sharded.stop()
        self._hooks.remove()
        self.gradients.stop()
        self.tell_given_up()

    def tell_given_up(self) -> None:
        """Says, once, why the tracker hears nothing more; nothing, if it does."""
        if self.tracker.why_given_up and not self._has_told_end:
            self._has_told_end = True
            warn(f"tidemark stopped tracking: {self.tracker.why_given_up}", stacklevel=5)

    # -- module calls -----------------------------------------------------------------------

    def followed(self, module: nn.Module) -> FollowedModule:
        number = id(module)
        known = self._modules.get(number)
        if known is None:
            alive = weakref.ref(module, lambda _: self._lose(number))
            known = self._modules[number] = FollowedModule(alive, self.tracker.add_module())
        return known

    def _lose(self, number: int) -> None:
        self._modules.pop(number, None)
        self.calls.forget(number)

    def active_names(self) -> set[str]:
        found = set()
        for known in list(self._modules.values()):
            module = known.alive()
            if module is not None and self.tracker.is_active(known.number):
                found.add(self.names.find(module) or "")
        return found

    def forget_stats(self) -> None:
        for known in list(self._modules.values()):
            known.stats = None
            known.is_labelled = False
        self.calls.prepare_again()
        self.tracker.clear_modules()

    def modules_with_stats(self) -> Iterator[tuple[nn.Module, Any]]:
        for known in list(self._modules.values()):
            module = known.alive()
            if module is not None and known.stats is not None:
                yield module, known.stats

    def _prepare(self, module: nn.Module) -> None:
        """Before a call that is not as usual: one of a new module, or after an end that was lost."""
        known = self.followed(module)
        if not known.is_labelled:
            self._label_tree(module)
        if not self._as_pytorch and (inner := wrapped_by(module)) is not None:
            self._prepare_wrapper(module, inner)
            return
        if known.stats is None:
            known.stats = self._meet(known, self.names.name_of(module))
        if self._in_step and not steps_under_way():
            self._end_step()
        if self.gradients.has_frozen():
            self.gradients.follow_thawed()
        if self.calls.is_open(module) and not _call_is_running(module):
            self.tracker.abandon_forward(known.number)
            self.calls.close_lost()
        self.calls.remember(module, known.number)
        self.calls.set_wary(self._in_step or self.gradients.has_frozen())

    def _prepare_wrapper(self, module: nn.Module, inner: nn.Module) -> None:
        """It takes no level; but a compiled module's calls are heard in place of the one inside."""
        if not hasattr(module, "_orig_mod"):
            self.calls.ignore(module)
            return
        hear_compiler()  # its first call compiles it
        known = self.followed(inner)
        if known.stats is None:
            known.stats = self._meet(known, self.names.name_of(inner))
        self.calls.remember_compiled(module, known.number)

    def give_up(self, problem: Exception) -> None:
        """A bug of ours must not end the user's program: tracking stops, training goes on. The hooks
        are idle from here on; PyTorch may be walking over them."""
        self.tracker.give_up(repr(problem))
        self.calls.stop()
        if not self._has_told_end:
            self._has_told_end = True
            warn(f"tidemark stopped tracking: {problem!r}", stacklevel=3)

    def _tell_unheard(self, error: Exception) -> None:
        """The GPU's allocator lets nobody listen; the program runs all the same."""
        if not self.tracker.is_running:
            return
        self.hears_gpus = False
        reason = str(error).splitlines()[0]
        what = ("GPU memory is counted only where it belongs to modules, gradients or optimizers: "
                f"the allocator does not tell of the rest ({reason})")
        self.tracker.diagnose("gpu-births-unheard", what)
        warn(f"tidemark: {what}", stacklevel=3)

    # -- parameters, optimizers -------------------------------------------------------------

    def label(self, tensors: Any, category: str, owner: str | None = None) -> None:
        """Gives the storages of a tensor, or of a list of them, their category, and the name of the
        module that has them."""
        if self.tracker.label(tensors, category, owner):
            return
        for tensor in tensors_below(tensors, opens_objects=False):
            if not self.tracker.label(tensor, category, owner):
                self._watch_from_python(tensor)

    def _label_tree(self, module: nn.Module) -> None:
        """Labels what a module has, and whatever is below: its children need no walk of their own.
        Unless FSDP gives them other parameters, which nobody tells, before they are called."""
        is_sharded = self._sharded.meet(module)
        self.label_module(module, hook_gradients=True)
        for one in [module] if is_sharded and self._as_pytorch else module.modules():
            self.followed(one).is_labelled = True
        self._label_copies()

    def _label_copies(self) -> None:
        """Copies that are not called: whoever keeps them, they are no parameters of the training."""
        for root in self._copies.take_new(lambda module: id(module) in self._modules):
            assert isinstance(self.names, ModuleNames)  # no others hear of copies
            for path, module in self.names.name_tree(root):
                self.tracker.set_owner(path)
                self.label([*module.parameters(recurse=False), *module.buffers(recurse=False)], "Other")
        self.tracker.set_owner("")

    def label_module(self, module: nn.Module, *, hook_gradients: bool) -> None:
        """Labels parameters, their gradients and buffers."""
        if not self._as_pytorch:
            remember_parameters(module)
            self._label_own(module)
        parameters = list(module.parameters())
        for kind, some in self._by_kind(parameters):
            self.label(some, f"{kind}Parameter")
            self.label([p.grad for p in some if p.grad is not None], f"{kind}Gradient")
        self.label(list(module.buffers()), "Buffer")
        for one in module.modules():
            self._put_off_lazy(one, hook_gradients)
        if hook_gradients:
            for parameter in parameters:
                if not is_lazy(parameter):
                    self.gradients.follow(parameter)

    def _label_own(self, module: nn.Module) -> None:
        """Labels what each module has itself, under its name."""
        self.names.name_of(module)
        for one in module.modules():
            name = self.names.find(one) or ""
            known = self._modules.get(id(one))
            if known is not None and known.stats is not None:
                self.tracker.set_name(known.number, name)
            self.tracker.set_owner(name)
            for kind, some in self._by_kind(list(one.parameters(recurse=False))):
                self.label(some, f"{kind}Parameter")
            self.label(list(one.buffers(recurse=False)), "Buffer")
        self.tracker.set_owner("")

    def _put_off_lazy(self, module: nn.Module, hook_gradients: bool) -> None:
        for one in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
            if is_lazy(one):
                owner = None if self._as_pytorch else self.names.find(module)
                self._lazy.put_off(one, partial(self._label_late, owner, hook_gradients))

    def _label_late(self, owner: str | None, hook_gradients: bool, tensor: torch.Tensor) -> None:
        try:
            if not self.tracker.is_running:
                return
            self.label(tensor, "Parameter" if isinstance(tensor, nn.Parameter) else "Buffer", owner)
            if isinstance(tensor, nn.Parameter) and hook_gradients:
                self.gradients.follow(tensor)
        except Exception as problem:
            self.give_up(problem)

    def _by_kind(self, parameters: list[nn.Parameter]) -> list[tuple[str, list[nn.Parameter]]]:
        return [("", parameters)] if self._as_pytorch else by_kind(parameters)

    def label_optimizer(self, optimizer: optim.Optimizer) -> None:
        self.label(state_tensors(optimizer), "OptimizerState")

    def before_step(self, optimizer: optim.Optimizer, args: Any = (), kwargs: Any = None) -> Any:
        if not self.tracker.is_running:
            return None
        try:
            if steps_under_way() > 1:
                return None
            self._in_step = True
            self.calls.set_wary(True)
            self._label_copies()
            self.tracker.begin_optimizer()
            if not self._as_pytorch:
                return with_followed_closure(self.tracker.set_in_closure, args, kwargs or {})
        except Exception as problem:
            self.give_up(problem)
        return None

    def after_step(self, optimizer: optim.Optimizer, *_: Any) -> None:
        if self.tracker.is_orphan:
            return
        is_inner = steps_under_way() > 1
        try:
            if self.tracker.is_running:
                # PyTorch's tracker looks through all of it after every step.
                if (self._as_pytorch or optimizer not in self._states
                        or self.tracker.has_born_in_optimizer()):
                    self.label_optimizer(optimizer)
                    self._states.add(optimizer)
                if not is_inner:
                    self._end_step()
        except Exception as problem:
            self.give_up(problem)
        if not is_inner:
            self.on_step(optimizer)

    def _end_step(self) -> None:
        self._in_step = False
        self.calls.set_wary(self.gradients.has_frozen())
        self.tracker.end_optimizer()

    def _watch_from_python(self, tensor: torch.Tensor) -> None:
        """For memory that is not the allocator's: the storage object's own end tells of its death."""
        for part in inner_tensors(tensor) or [tensor]:
            storage = part.untyped_storage()
            key = _recorder.storage_key(storage._cdata)
            if key not in self._unwatched:
                self._unwatched[key] = weakref.ref(storage, partial(self._forget, key))

    def _forget(self, key: int, _: Any) -> None:
        self._unwatched.pop(key, None)
        self.tracker.forget(key)


def _untraced_pre_hook(hook: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """The hook, out of the compiler's sight: it traces Python, and would give up at C++."""
    is_traced = torch.compiler.is_dynamo_compiling

    def before_forward(module: nn.Module, inputs: Any) -> None:
        if not is_traced():
            hook(module, inputs)

    return before_forward


def _untraced_hook(hook: Callable[[Any, Any, Any], None]) -> Callable[[Any, Any, Any], None]:
    is_traced = torch.compiler.is_dynamo_compiling

    def after_forward(module: nn.Module, inputs: Any, outputs: Any) -> None:
        if not is_traced():
            hook(module, inputs, outputs)

    return after_forward


def _call_is_running(module: nn.Module) -> bool:
    """Whether a call of the module is on the stack: an interrupt ends one without a word."""
    file = sys.modules[nn.Module.__module__].__file__
    return any(
        f.f_code.co_name == "_call_impl" and f.f_code.co_filename == file
        and f.f_locals.get("self") is module
        for f in list(_frames())[4:]  # the innermost is the call that begins now
    )


def _frames() -> Iterator[Any]:
    frame: Any = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back
