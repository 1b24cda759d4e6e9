"""Drop-in for torch.distributed._tools.fsdp2_mem_tracker: memory of modules that FSDP2 shards.

What FSDP2 does to a module is told where it does it, the rest comes from the allocators: no dispatch
mode, and nothing is kept alive. docs/compat/fsdp2_mem_tracker.md lists what differs.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from tidemark.recording.library import _recorder  # first: it checks that torch has the rest

import torch
from torch import nn, optim
from torch.distributed.fsdp import FSDPModule
from torch.utils._pytree import tree_leaves

from tidemark.compat.fsdp_moments import FsdpMoments
from tidemark.compat.mem_tracker import MemTracker
from tidemark.compat.storage_info import _TOTAL_KEY, Snapshot, _RefType, _State
from tidemark.compat.tracked_stats import TrackedStats
from tidemark.recording.follower import FollowedModule, Follower
from tidemark.sharding.sharded_parameters import groups_of, sharded_parameters

__all__ = ["FSDPMemTracker"]


class _FSDPRefType(_RefType):
    """What a storage is for."""

    SHARDED_PARAM = "Sharded Param"
    UNSHARDED_PARAM = "Unsharded Param"
    BUFFER = "Buffer"
    SHARDED_GRAD = "Sharded Grad"
    UNSHARDED_GRAD = "Unsharded Grad"
    ACT = "Activation"
    TEMP = "Temp"
    ALL_GATHER = "All Gather"
    REDUCE_SCATTER = "Reduce Scatter"
    OPT = "OptState"
    INP = "Inputs"


class _FSDPModState(_State):
    """When a snapshot of a module was taken: before and after what FSDP2 does there."""

    BEF_PRE_FW = "Before Pre-Forward"
    AFT_PRE_FW = "After Pre-Forward"
    BEF_POST_FW = "Before Post-Forward"
    AFT_POST_FW = "After Post-Forward"
    BEF_PRE_BW = "Before Pre-Backward"
    AFT_PRE_BW = "After Pre-Backward"
    BEF_POST_BW = "Before Post-Backward"
    AFT_POST_BW = "After Post-Backward"
    PRE_FW_AC = "Pre-Forward AC"
    POST_FW_AC = "Post-Forward AC"
    PEAK_FW = "Peak Forward"
    PEAK_BW = "Peak Backward"


class _FSDPState(Enum):
    """What FSDP2 does now."""

    PRE_FW = auto()
    FW = auto()
    POST_FW = auto()
    PRE_BW = auto()
    BW = auto()
    POST_BW = auto()


class _FSDPModMemStats:
    """What is known of one module: snapshots by state, one per call."""

    def __init__(self, mod_fqn: str) -> None:
        self.mod_fqn = mod_fqn
        self.local_peak: dict[torch.device, int] = {}
        self.snapshots: dict[_FSDPModState, list[Snapshot]] = {}


class _TrackedFSDPModMemStats(TrackedStats, _FSDPModMemStats):  # type: ignore[misc, override]
    """The same, read from the tracker when somebody looks."""

    _kinds = _FSDPRefType
    _states = _FSDPModState


class _CallsOnly(Follower):
    """Follows module calls and the steps of one optimizer, and labels no parameters by itself."""

    def __init__(self, tracker: Any, meet: Any, optimizer: optim.Optimizer | None) -> None:
        super().__init__(tracker, meet, as_pytorch=True)
        self._optimizer = optimizer

    def _label_tree(self, module: nn.Module) -> None:
        for one in module.modules():
            self.followed(one).is_labelled = True

    def before_step(self, optimizer: optim.Optimizer, args: Any = (), kwargs: Any = None) -> Any:
        return super().before_step(optimizer, args, kwargs) if optimizer is self._optimizer else None

    def after_step(self, optimizer: optim.Optimizer, *more: Any) -> None:
        if optimizer is self._optimizer:
            super().after_step(optimizer, *more)


class FSDPMemTracker(MemTracker):  # type: ignore[no-untyped-call]
    """Tracks the memory of a model that FSDP2 has sharded, and of its optimizer.

    >>> tracker = FSDPMemTracker(model, optimizer)
    >>> tracker.track_inputs((batch,))
    >>> with tracker:
    ...     model(batch).sum().backward()
    >>> tracker.display_modulewise_snapshots(depth=3, units="MiB")
    """

    _kinds = _FSDPRefType
    _like = "FSDPMemTracker"

    def __init__(self, mod: nn.Module, optm: optim.Optimizer | None = None) -> None:
        self._root_mod = mod
        self._optm = optm
        super().__init__()
        if not isinstance(mod, FSDPModule):
            raise AssertionError("FSDPMemTracker only supports FSDP modules")
        self._fsdp_state = _FSDPState.PRE_FW
        self._moments = FsdpMoments(self)
        self._groups: dict[int, Any] = {}  # those of the model, while tracked

    def track_inputs(self, inputs: tuple[Any, ...]) -> None:
        """Makes the tensors known that the model is called with."""
        for value in tree_leaves(inputs):
            if isinstance(value, torch.Tensor):
                self._follower.label(value, "Input")

    def track_external(self, *external: Any) -> None:
        """Nothing: the model and the optimizer are known, and inputs go to track_inputs."""

    def _make_follower(self) -> Follower:
        return _CallsOnly(self._tracker, self._meet, self._optm)

    def _meet(self, module: FollowedModule, name: str) -> Any:
        alive = module.alive()
        if alive is None or not groups_of(alive):
            return None
        return _TrackedFSDPModMemStats(name, self._tracker, module.number)

    def _start(self) -> None:
        for one in sharded_parameters(self._root_mod):
            self._label(one.sharded_param, _FSDPRefType.SHARDED_PARAM)
            self._label(one.sharded_param.grad, _FSDPRefType.SHARDED_GRAD)
        self._label(list(self._root_mod.buffers()), _FSDPRefType.BUFFER)
        if self._optm is not None:
            self._follower.label_optimizer(self._optm)
        self._groups = {id(group): group for module in self._root_mod.modules()
                        for group in groups_of(module)}
        super()._start()
        self._moments.start(self._root_mod)

    def _stop(self) -> None:
        self._moments.stop()
        self._groups = {}
        super()._stop()

    # -- what FSDP2 does, told by FsdpMoments ------------------------------------------------

    def before_pre_forward(self, module: nn.Module) -> None:
        self._fsdp_state = _FSDPState.PRE_FW
        self._tell(module, _FSDPModState.BEF_PRE_FW)

    def after_pre_forward(self, module: nn.Module) -> None:
        self._label([one.unsharded_param for group in groups_of(module) for one in group.fsdp_params],
                    _FSDPRefType.UNSHARDED_PARAM)
        self._tell(module, _FSDPModState.AFT_PRE_FW)
        self._fsdp_state = _FSDPState.FW

    def before_post_forward(self, module: nn.Module) -> None:
        self._tell(module, _FSDPModState.BEF_POST_FW)
        self._fsdp_state = _FSDPState.POST_FW

    def after_post_forward(self, module: nn.Module) -> None:
        self._tell(module, _FSDPModState.AFT_POST_FW)

    def before_pre_backward(self, group: Any) -> None:
        if id(group) in self._groups:
            self._fsdp_state = _FSDPState.PRE_BW
            self._tell_all(group, _FSDPModState.BEF_PRE_BW)

    def after_pre_backward(self, group: Any) -> None:
        if id(group) in self._groups:
            self._tell_all(group, _FSDPModState.AFT_PRE_BW)
            self._fsdp_state = _FSDPState.BW

    def before_post_backward(self, group: Any) -> None:
        if id(group) in self._groups:
            self._label([one._unsharded_param.grad for one in group.fsdp_params
                         if hasattr(one, "_unsharded_param")], _FSDPRefType.UNSHARDED_GRAD)
            self._tell_all(group, _FSDPModState.BEF_POST_BW)
            self._fsdp_state = _FSDPState.POST_BW

    def after_post_backward(self, group: Any) -> None:
        if id(group) in self._groups:
            self._label([one.sharded_param.grad for one in group.fsdp_params],
                        _FSDPRefType.SHARDED_GRAD)
            self._tell_all(group, _FSDPModState.AFT_POST_BW)

    def gathered(self, output: torch.Tensor) -> None:
        if self._fsdp_state in (_FSDPState.PRE_FW, _FSDPState.PRE_BW):
            self._label(output, _FSDPRefType.ALL_GATHER)

    def scattered(self, input: torch.Tensor) -> None:
        if self._fsdp_state is _FSDPState.POST_BW:
            self._label(input, _FSDPRefType.REDUCE_SCATTER)

    def give_up(self, problem: Exception) -> None:
        self._follower.give_up(problem)

    def _tell_all(self, group: Any, state: _FSDPModState) -> None:
        for module in group.modules:
            self._tell(module, state)

    def _tell(self, module: nn.Module, state: _FSDPModState) -> None:
        self._tracker.tell_moment(self._follower.followed(module).number, state.value)

    def _label(self, tensors: Any, kind: _FSDPRefType) -> None:
        self._follower.label(tensors, self._categories[kind])
