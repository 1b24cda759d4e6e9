"""What a live tracker does with what FSDP tells it: labels, purposes, gradients that it follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemark.recording.gradients import FollowedGradients


class ShardedLabels:
    """For a tracker that tells sharded memory apart."""

    def __init__(self, follower: Any) -> None:
        self._follower = follower
        self.set_purpose: Callable[[str], str] = follower.tracker.set_purpose
        self.label: Callable[[Any, str], None] = follower.label
        self.follow_unsharded: Callable[[Any], None] = follower.gradients.follow
        self.give_up: Callable[[Exception], None] = follower.give_up

    def take_sharded_gradient(self, parameter: Any, gradient: Any) -> None:
        self._follower.label(gradient, "ShardedGradient")

    def own(self, unit: Any, tensors: Any, category: str) -> None:
        self._follower.label(tensors, category, self._follower.names.find(unit) or "")


class GradientsOnly:
    """For PyTorch's MemTracker, to which gradients of shards are gradients."""

    def __init__(self, gradients: FollowedGradients, give_up: Callable[[Exception], None]) -> None:
        self.take_sharded_gradient = gradients.label_followed
        self.give_up = give_up

    def set_purpose(self, category: str) -> str:
        return ""

    def label(self, tensors: Any, category: str) -> None:
        pass

    def follow_unsharded(self, parameter: Any) -> None:
        pass

    def own(self, unit: Any, tensors: Any, category: str) -> None:
        pass
