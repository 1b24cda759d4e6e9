"""Notices the gradients that FSDP2 hands to its parameters itself, past autograd's accumulation."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Container
from typing import Any

import torch
from torch import nn

from tidemark.private_torch import check_private, what_is_missing
from tidemark.recording.replaced_method import ReplacedMethod, ReplacedMethods
from tidemark.recording.telling import warn

_all: dict[int, weakref.ref[ShardedGradients]] = {}
_methods: list[ReplacedMethods] = []


class ShardedGradients:
    """From the first sharded module on that is met, every new gradient of a parameter whose id is
    in `followed` is given to `label`."""

    def __init__(self, followed: Container[int], label: Callable[[Any], None]) -> None:
        self._followed = followed
        self._label = label
        self._is_started = False

    def meet(self, module: nn.Module) -> bool:
        """Whether FSDP2 shards the module or one below it; nothing is, before that has been loaded."""
        fsdp = sys.modules.get("torch.distributed.fsdp")
        if fsdp is None or not any(isinstance(one, fsdp.FSDPModule) for one in module.modules()):
            return False
        self._start()
        return True

    def _start(self) -> None:
        if self._is_started:
            return
        self._is_started = True
        number = id(self)
        _all[number] = weakref.ref(self, lambda _: _all.pop(number, None))
        _replaced_methods().start()

    def stop(self) -> None:
        if not self._is_started:
            return
        self._is_started = False
        _all.pop(id(self), None)
        _replaced_methods().stop()

    def take(self, parameter: Any, gradient: Any) -> None:
        if id(parameter) in self._followed:
            self._label(gradient)


def _replaced_methods() -> ReplacedMethods:
    """Made when FSDP2 is there: we do not load it."""
    if not _methods:
        missing = check_private("sharded")
        if missing:
            warn(f"tidemark: {what_is_missing(*missing)}; until then gradients of sharded parameters "
                 "are not told from other memory", stacklevel=6)
            _methods.append(ReplacedMethods([]))
            return _methods[0]
        from torch.distributed.fsdp._fully_shard._fsdp_param import FSDPParam

        _methods.append(ReplacedMethods(
            [ReplacedMethod(FSDPParam, "to_sharded_dtensor", _followed)]))
    return _methods[0]


def _followed(original: Any) -> Callable[[Any, torch.Tensor], Any]:
    """FSDP2 makes the parameter this way, and after that nothing but its gradients."""
    is_traced = torch.compiler.is_dynamo_compiling

    def to_sharded_dtensor(sharded: Any, tensor: torch.Tensor) -> Any:
        made = original(sharded, tensor)
        parameter = getattr(sharded, "sharded_param", None)
        if parameter is not None and not is_traced():
            for alive in list(_all.values()):
                follower = alive()
                if follower is not None:
                    follower.take(parameter, made)
        return made

    return to_sharded_dtensor
