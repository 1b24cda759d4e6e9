"""Stands around what FSDP2 does to modules: before and after each part of it.

The parts of a forward are hooks of the module, which FSDP2 has handed to it long ago: what stands in
their place keeps their order and their numbers. The parts of a backward are methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from torch import nn
from torch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup

from tidemark.sharding.heard_methods import Around, HeardMethods, HeardPoint, Point
from tidemark.sharding.sharded_parameters import groups_of


class MomentHearer(Protocol):
    """Who is told; of groups and modules that are not its own, too."""

    def before_pre_forward(self, module: Any) -> None: ...
    def after_pre_forward(self, module: Any) -> None: ...
    def before_post_forward(self, module: Any) -> None: ...
    def after_post_forward(self, module: Any) -> None: ...
    def before_pre_backward(self, group: Any) -> None: ...
    def after_pre_backward(self, group: Any) -> None: ...
    def before_post_backward(self, group: Any) -> None: ...
    def after_post_backward(self, group: Any) -> None: ...
    def gathered(self, output: Any) -> None: ...
    def scattered(self, input: Any) -> None: ...
    def give_up(self, problem: Exception) -> None: ...


def _around(name: str) -> Point:
    def point(hearer: Any, subject: Any, *_: Any, **__: Any) -> Around:
        getattr(hearer, f"before_{name}")(subject)
        yield
        getattr(hearer, f"after_{name}")(subject)

    return point


def _gathers(hearer: MomentHearer, comm: Any, output_tensor: Any, *_: Any, **__: Any) -> Around:
    yield
    hearer.gathered(output_tensor)


def _scatters(hearer: MomentHearer, comm: Any, output_tensor: Any, input_tensor: Any, *_: Any,
              **__: Any) -> Around:
    yield
    hearer.scattered(input_tensor)


_BACKWARD = HeardMethods([
    HeardPoint(FSDPParamGroup, "pre_backward", _around("pre_backward")),
    HeardPoint(FSDPParamGroup, "post_backward", _around("post_backward")),
])
_collectives: dict[type, HeardMethods] = {}  # by the class that does it, PyTorch's or the program's


def _collective(performer: Any, point: Point) -> HeardMethods:
    kind = type(performer)
    if kind not in _collectives:
        _collectives[kind] = HeardMethods([HeardPoint(kind, "__call__", point)])
    return _collectives[kind]


class FsdpMoments:
    """While started, `hearer` is told of all modules below a root that have parameters to gather."""

    def __init__(self, hearer: MomentHearer) -> None:
        self._hearer = hearer
        self._started: list[HeardMethods] = []

    def start(self, root: nn.Module) -> None:
        heard = [_BACKWARD, HeardMethods(_hooks_below(root))]
        for group in {id(one): one for module in root.modules() for one in groups_of(module)}.values():
            heard += [_collective(group._all_gather_comm, _gathers),
                      _collective(group._reduce_scatter_comm, _scatters)]
        for one in dict.fromkeys(heard):
            one.start(self._hearer)
            self._started.append(one)

    def stop(self) -> None:
        while self._started:
            self._started.pop().stop(self._hearer)


def _hooks_below(root: nn.Module) -> Iterator[HeardPoint]:
    for module in root.modules():
        if not groups_of(module):
            continue
        state: Any = module._get_fsdp_state()  # type: ignore[operator]
        numbers = {*_numbers_of(state._pre_forward_hook_handle),
                   *_numbers_of(state._post_forward_hook_handle)}
        for hooks, name in ((module._forward_pre_hooks, "pre_forward"),
                            (module._forward_hooks, "post_forward")):
            for number in hooks.keys() & numbers:
                yield HeardPoint(hooks, number, _around(name))


def _numbers_of(handle: Any) -> list[int]:
    """Of a hook; modules that are sharded as a list have one handle for all of theirs."""
    return [one.id for one in getattr(handle, "handles", (handle,))]
