"""Follows the gradients of parameters: each is labelled as it comes."""

from __future__ import annotations

import weakref
from typing import Any

from torch import nn

from tidemark.recording.library import _recorder
from tidemark.sharding.sharded_parameters import kind_of


class FollowedGradients:
    """Those of one tracker. A frozen parameter is followed from when it wants a gradient."""

    def __init__(self, tracker: Any, *, as_pytorch: bool) -> None:
        self._tracker = tracker
        self._as_pytorch = as_pytorch
        self._hook = _recorder.gradient_hook(tracker)
        self._followed: dict[int, tuple[Any, Any]] = {}  # a parameter, and the handle of its hook
        self._frozen: dict[int, weakref.ref[nn.Parameter]] = {}

    def follow(self, parameter: nn.Parameter) -> None:
        if id(parameter) in self._followed or not parameter.is_leaf:
            return
        if not parameter.requires_grad:
            self._frozen[id(parameter)] = weakref.ref(parameter)
            return
        number = id(parameter)
        alive = weakref.ref(parameter, lambda _: self._followed.pop(number, None))
        kind = "" if self._as_pytorch else kind_of(parameter)
        self._tracker.follow_gradient(parameter, self._as_pytorch, f"{kind}Gradient")
        hookable: Any = parameter  # torch does not type it
        self._followed[number] = alive, (
            hookable.register_hook(self._hook) if self._as_pytorch else None)

    def has_frozen(self) -> bool:
        return bool(self._frozen)

    def follow_thawed(self) -> None:
        for number, alive in list(self._frozen.items()):
            parameter = alive()
            if parameter is None or parameter.requires_grad:
                self._frozen.pop(number, None)
            if parameter is not None and parameter.requires_grad:
                self.follow(parameter)

    def label_followed(self, parameter: Any, gradient: Any) -> None:
        """A gradient that somebody else brings; nothing is done unless the parameter is followed."""
        if id(parameter) in self._followed:
            self._hook(gradient)

    def stop(self) -> None:
        followed = list(self._followed.values())
        self._followed.clear()
        for _, handle in followed:
            if handle is not None:
                handle.remove()
