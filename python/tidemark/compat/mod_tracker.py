"""Drop-in for torch.distributed._tools.mod_tracker: which modules run now, forward or backward.

Names are right for shared modules and for several roots of one class, nothing global is replaced,
and no graph is kept alive. docs/compat/mod_tracker.md lists what differs.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidemark.recording.library import _recorder  # first: it checks that torch has the rest

from torch import nn
from torch.utils._pytree import tree_leaves

from tidemark.recording.hook_tables import GlobalHooks
from tidemark.recording.pytorch_names import PyTorchNames

if TYPE_CHECKING:
    from tidemark.module_names import ModuleNames

__all__ = ["ModTracker"]

Hook = Callable[..., Any]
_HOOKS = ("pre_fw_hook", "post_fw_hook", "pre_bw_hook", "post_bw_hook")


class ModTracker:
    """Inside the context, `parents` holds the names of the modules that run, and `Global`."""

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: PyTorchNames | ModuleNames = PyTorchNames()
        self._running: dict[str, int] = {}
        self._hooks: dict[str, Hook | None] = dict.fromkeys(_HOOKS)
        self._ends: list[tuple[weakref.ref[nn.Module], Hook]] = []
        self._follows_backward = False
        self._calls: list[tuple[BaseException | None, Any]] = []
        self._global_hooks = GlobalHooks()

    @property
    def is_bw(self) -> bool:
        """Whether the autograd engine runs on this thread."""
        return bool(_recorder.current_backward() != -1)

    def get_known_fqn(self, mod: nn.Module) -> str | None:
        """The module's name, if it has been met."""
        return self._names.find(mod)

    def register_user_hooks(
        self,
        pre_fw_hook: Hook | None = None,
        post_fw_hook: Hook | None = None,
        pre_bw_hook: Hook | None = None,
        post_bw_hook: Hook | None = None,
    ) -> None:
        """Sets what is called around forwards and backwards; a hook that is set must be cleared first."""
        given = dict(zip(_HOOKS, (pre_fw_hook, post_fw_hook, pre_bw_hook, post_bw_hook), strict=True))
        for name, hook in given.items():
            if hook is not None and self._hooks[name] is not None:
                raise AssertionError(
                    f"Only one {name} can be registered at a time: call clear_user_hooks first"
                )
        self._hooks = given

    def clear_user_hooks(self) -> None:
        """Takes all user hooks away."""
        self._hooks = dict.fromkeys(_HOOKS)

    def __enter__(self) -> ModTracker:
        self._global_hooks.before_forward(self._fw_pre_hook)
        self._global_hooks.after_forward(self._fw_post_hook)
        return self

    def __exit__(self, *_: Any) -> None:
        self._global_hooks.remove()

    # -- what PyTorch's own callers use and override ------------------------------------------

    def _get_mod_name(self, mod: nn.Module) -> str:
        return self._names.name_of(mod)

    def _get_append_fn(self, w_mod: weakref.ref[nn.Module], name: str, is_bw: bool) -> Hook:
        """What is called when the module begins, in a backward with the gradients that came first."""

        def begin(*gradients: Any) -> None:
            if is_bw:
                self._follow_backward()
            self._begin(name)
            if is_bw:
                self._call("pre_bw_hook", w_mod(), gradients)

        return begin

    def _get_pop_fn(self, w_mod: weakref.ref[nn.Module], name: str, is_bw: bool) -> Hook:
        """What is called when the module ends, in a backward with the list of its inputs' gradients."""

        def end(*gradients: Any) -> None:
            if is_bw:
                self._call("post_bw_hook", w_mod(), gradients)
            self._end(name)

        return end

    def _fw_pre_hook(self, mod: nn.Module, input: Any) -> None:
        if _is_compiled():
            return
        name = self._get_mod_name(mod)
        self._begin(name)
        self._call("pre_fw_hook", mod, input)
        graph = None if self.is_bw else self._await_end(mod, name, input)
        self._calls.append((sys.exc_info()[1], graph))

    def _await_end(self, mod: nn.Module, name: str, input: Any) -> Any:
        """The module ends when the gradients of its inputs are there, else with the backward."""
        end = self._get_pop_fn(weakref.ref(mod), name, True)
        if _is_differentiable(input):
            return self._await(input, True, lambda gradients: end(gradients) if gradients else end())
        self._ends.append((weakref.ref(mod), end))
        return None

    def _fw_post_hook(self, mod: nn.Module, input: Any, output: Any) -> None:
        if _is_compiled():
            return
        name = self._get_mod_name(mod)
        self._call("post_fw_hook", mod, input, output)
        self._end(name)
        before, graph = self._calls.pop() if self._calls else (None, None)
        raised = sys.exc_info()[1]
        if self.is_bw:
            return
        if output is None and raised is not None and raised is not before:
            # No backward will come through a call that raised.
            self._ends = [one for one in self._ends if one[0]() is not mod]
        if _is_differentiable(output):
            begin = self._get_append_fn(weakref.ref(mod), name, True)
            self._await(output, False, lambda gradients: begin(*_arrived(gradients)), graph)

    # -- counting -------------------------------------------------------------------------------

    def _call(self, hook: str, *arguments: Any) -> None:
        function = self._hooks[hook]
        if function is not None:
            function(*arguments)

    def _begin(self, name: str) -> None:
        self._running[name] = self._running.get(name, 0) + 1
        self.parents.add(name)

    def _end(self, name: str) -> None:
        count = self._running.get(name, 0)
        if count > 1:
            self._running[name] = count - 1
        elif count == 1:
            del self._running[name]
            self.parents.discard(name)

    def _await(self, values: Any, all: bool, action: Callable[[list[Any]], None],
               of_inputs: Any = None) -> Any:
        wants = self._hooks["pre_bw_hook"] is not None or self._hooks["post_bw_hook"] is not None
        return _recorder.await_gradients(values, all=all, action=action, wants_gradients=wants,
                                         of_inputs=of_inputs)

    def _follow_backward(self) -> None:
        if self._follows_backward:
            return
        self._follows_backward = True
        ends, self._ends = self._ends, []

        def done(_: list[Any]) -> None:
            for _module, end in reversed(ends):
                end()
            forget(_)

        def forget(_: list[Any]) -> None:
            self.parents = {"Global"}
            self._running.clear()
            self._follows_backward = False

        _recorder.at_end_of_backward(done, forget)


def _is_differentiable(values: Any) -> bool:
    return any(getattr(leaf, "requires_grad", False) for leaf in tree_leaves(values))


def _arrived(gradients: list[Any]) -> tuple[Any, ...]:
    return tuple(one for one in gradients if one is not None)


def _is_compiled() -> bool:
    """Inside a compiled region; nobody is, before the compiler has been loaded."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    return frames is not None and bool(frames._is_in_optimized_module())
