"""Says of what FSDP makes which category it is, at the moment it is made.

Most of it has no name of its own: a buffer, a copy in another precision, a shard that is kept for the
backward. So while FSDP works for one purpose, all that its thread makes is for that purpose. FSDP's own
methods tell when that is; they do what they always do, and wait for nothing.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import nn

from tidemark.private_torch import check_private, what_is_missing
from tidemark.recording.telling import warn
from tidemark.sharding.heard_methods import Around, HeardMethods, HeardPoint, Point
from tidemark.sharding.sharded_parameters import (
    SHARDED,
    UNSHARDED,
    fsdp_loaded,
    remember,
    remember_parameters,
)


class Hearer(Protocol):
    """Who is told. A purpose is a category, or nothing; the one before is returned."""

    def set_purpose(self, category: str) -> str: ...
    def label(self, tensors: Any, category: str) -> None: ...
    def take_sharded_gradient(self, parameter: Any, gradient: Any) -> None: ...
    def follow_unsharded(self, parameter: Any) -> None: ...
    def own(self, unit: nn.Module, tensors: Any, category: str) -> None: ...
    def give_up(self, problem: Exception) -> None: ...


class ShardedMemory:
    """From the first sharded module on that is met, `hearer` is told; until it is stopped."""

    def __init__(self, hearer: Hearer) -> None:
        self._hearer = hearer
        self._is_started = False

    def meet(self, module: nn.Module) -> bool:
        """Whether FSDP shards the module or one below it; nothing is, before that has been loaded."""
        fsdp = fsdp_loaded()
        if fsdp is None:
            return False
        kinds = fsdp.FSDPModule, fsdp.FullyShardedDataParallel
        if not any(isinstance(one, kinds) for one in module.modules()):
            return False
        try:
            self._start()
            for parameter in remember_parameters(module):
                self._hearer.follow_unsharded(parameter)
        except Exception as problem:  # an FSDP that is not as we know it
            self._hearer.give_up(problem)
        return True

    def _start(self) -> None:
        if self._is_started:
            return
        self._is_started = True
        methods().start(self._hearer)

    def stop(self) -> None:
        if self._is_started:
            self._is_started = False
            methods().stop(self._hearer)


# -- what each method makes ----------------------------------------------------------------------


def _makes(category: str) -> Point:
    def point(hearer: Hearer, *_: Any, **__: Any) -> Around:
        before = hearer.set_purpose(category)
        try:
            yield
        finally:
            hearer.set_purpose(before)

    return point


def _makes_shard(hearer: Hearer, made: Any, sharded: Any, *_: Any, **__: Any) -> None:
    """FSDP2 makes the parameter this way, and after that nothing but its gradients."""
    parameter = getattr(sharded, "sharded_param", None)
    if parameter is None:
        hearer.label(made, "ShardedParameter")
    else:
        hearer.take_sharded_gradient(parameter, made)


def _takes_shard(hearer: Hearer, _: None, sharded: Any) -> None:
    """The module may have another parameter than FSDP2 had made: moved, loaded, or padded now."""
    remember(sharded.sharded_param, SHARDED)
    if not sharded.sharded_param.is_meta:
        hearer.label(sharded.sharded_param, "ShardedParameter")


def _gathers(hearer: Hearer, _: None, group: Any, *__: Any, **___: Any) -> None:
    """The module may be another than the one that runs: gathered before it is needed."""
    gathered = getattr(group, "_all_gather_result", None)
    if gathered is not None:
        hearer.own(group.modules[0], gathered.all_gather_output, "AllGather")


def _unshards(hearer: Hearer, group: Any) -> Around:
    is_news = getattr(group, "_all_gather_result", None) is not None
    had = _put_together(group) if is_news else []
    before = hearer.set_purpose("UnshardedParameter")
    try:
        yield
    finally:
        hearer.set_purpose(before)
    if not is_news:
        return
    has = _put_together(group)
    known = {id(one) for one in had}
    for parameter in has:
        if id(parameter) not in known and remember(parameter, UNSHARDED):
            hearer.follow_unsharded(parameter)
    hearer.own(group.modules[0], has, "UnshardedParameter")


def _put_together(group: Any) -> list[Any]:
    """The parameters of a group as the module uses them; none before they have been gathered once."""
    return [whole for one in group.fsdp_params
            if (whole := getattr(one, "_unsharded_param", None)) is not None]


def _takes_gradients(hearer: Hearer, group: Any, *_: Any) -> Around:
    """Gradients that autograd has handed over otherwise than to a plain leaf."""
    hearer.label([gradient for one in _put_together(group) if (gradient := one.grad) is not None],
                 "UnshardedGradient")
    yield


def _reduces(hearer: Hearer, fsdp_params: Any, *_: Any, **__: Any) -> Around:
    """What is left of a reduction: the input, gradients, and with replicas what these exchange."""
    before = hearer.set_purpose("ReduceScatter")
    try:
        result = yield
    finally:
        hearer.set_purpose(before)
    *exchanged, partial = (one for one in result[1:] if one is None or isinstance(one, torch.Tensor))
    if partial is not None:
        hearer.label(partial, "ShardedGradient")
    if all(one is None for one in exchanged):
        return
    gradients = {_storage(one.sharded_param.grad._local_tensor) for one in fsdp_params
                 if one.sharded_param.grad is not None}
    hearer.label([one for one in exchanged if one is not None and _storage(one) not in gradients],
                 "Communication")


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _gives_flat_gradient(hearer: Hearer, _: None, handle: Any) -> None:
    if handle.flat_param.grad is not None:
        hearer.label(handle.flat_param.grad, "Gradient")


_methods: list[HeardMethods] = []


def methods() -> HeardMethods:
    """Made when FSDP is there."""
    if not _methods:
        _methods.append(HeardMethods([*_points_of_fsdp2(), *_points_of_fsdp1()]))
    return _methods[0]


def _points_of_fsdp2() -> list[HeardPoint]:
    if _warn_of_missing("sharded", "memory of sharded parameters is"):
        return []
    from torch.distributed.fsdp._fully_shard import _fsdp_param_group as groups
    from torch.distributed.fsdp._fully_shard._fsdp_param import FSDPParam

    return [
        HeardPoint(FSDPParam, "to_sharded_dtensor", after=_makes_shard),
        HeardPoint(FSDPParam, "reset_sharded_param", after=_takes_shard),
        HeardPoint(FSDPParam, "to_sharded_post_forward", _makes("ShardedParameter")),
        HeardPoint(FSDPParam, "to_accumulated_grad_if_needed", _makes("UnshardedGradient")),
        HeardPoint(groups.FSDPParamGroup, "unshard", after=_gathers),
        HeardPoint(groups.FSDPParamGroup, "wait_for_unshard", _unshards),
        HeardPoint(groups.FSDPParamGroup, "post_backward", _takes_gradients),
        HeardPoint(groups, "foreach_all_gather", _makes("AllGather")),
        HeardPoint(groups, "foreach_reduce", _reduces),
    ]


def _points_of_fsdp1() -> list[HeardPoint]:
    """The parameters of a module are one flat one, which is the buffer of its all-gather, too."""
    if _warn_of_missing("flat", "buffers of FullyShardedDataParallel are"):
        return []
    from torch.distributed.fsdp._flat_param import FlatParamHandle

    return [
        HeardPoint(FlatParamHandle, "_alloc_padded_unsharded_flat_param", _makes("AllGather")),
        HeardPoint(FlatParamHandle, "prepare_gradient_for_optim", after=_gives_flat_gradient),
    ]


def _warn_of_missing(part: str, what: str) -> bool:
    missing = check_private(part)
    if missing:
        warn(f"tidemark: {what_is_missing(*missing)}; until then {what} not told from other memory",
             stacklevel=8)
    return bool(missing)
