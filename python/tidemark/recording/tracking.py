"""`tidemark.track`: follows a live program and writes its tape."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn, optim
from torch.utils._pytree import tree_leaves

import tidemark
from tidemark.recording.follower import FollowedModule, Follower
from tidemark.recording.library import _recorder
from tidemark.recording.out_of_memory import is_out_of_memory, report_out_of_memory
from tidemark.recording.report import facts_of, text_report

ON_OUT_OF_MEMORY = ("report", "ignore")


class Tracking:
    """A program that is being followed; a context manager that can be entered again.

    `tape` is there after the last exit. Everything created inside is followed; what existed before
    is, if it is named here or belongs to a module that is called or an optimizer that steps.
    """

    def __init__(self, *external: Any, save: str = "", oom: str = "report",
                 operators: bool = False) -> None:
        if oom not in ON_OUT_OF_MEMORY:
            raise ValueError(f"oom must be one of {', '.join(ON_OUT_OF_MEMORY)}, not {oom}")
        self._oom = oom
        self._folder = None if save else tempfile.TemporaryDirectory(prefix="tidemark-")
        self.path = Path(save) if save else Path(self._folder.name) / "run.tape"  # type: ignore[union-attr]
        self._tracker = _recorder.Tracker(tape=str(self.path), operators=operators)
        self._follower = Follower(self._tracker, self._meet)
        self._follower.names_owners = True
        self._depth = 0
        self._tape: tidemark.Tape | None = None
        self.add(*external)

    def add(self, *external: Any) -> None:
        """Makes modules, optimizers and inputs known that were created outside."""
        for value in tree_leaves(external):
            if isinstance(value, nn.Module):
                self._follower.label_module(value, hook_gradients=False)
            elif isinstance(value, optim.Optimizer):
                self._follower.label_optimizer(value)
            elif isinstance(value, torch.Tensor):
                self._follower.label(value, "Input")

    def __enter__(self) -> Tracking:
        if self._tape is not None:
            raise RuntimeError("this tracking was finished; make a new one")
        if self._depth == 0:
            self._follower.start(outputs=torch._guards.active_fake_mode() is not None)
        self._depth += 1
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._depth -= 1
        if self._depth > 0:
            return
        ran_out = error is not None and is_out_of_memory(error)
        if ran_out and self._tracker.out_of_memory is None:
            # A GPU's allocator cannot be listened to while it fails; its tensors are still here.
            self._tracker.capture_out_of_memory(0, "the GPU")
        self._follower.stop()
        if self._oom == "report" and ran_out:
            report_out_of_memory(self._tracker.out_of_memory, str(self.path), sys.stderr)
            self.finish()

    def finish(self) -> tidemark.Tape:
        """Closes the tape and returns it; nothing can be tracked afterwards."""
        if self._tape is None:
            self._tracker.finish()
            self._tape = tidemark.open(str(self.path))
        return self._tape

    @property
    def tape(self) -> tidemark.Tape:
        return self.finish()

    def facts(self, depth: int = 3) -> dict[str, Any]:
        """Peak, owners and modules down to a depth (0: all), as `tidemark record --json` has them."""
        return facts_of(self.tape, self.steps, depth)

    def report(self, depth: int = 3, width: int = 80) -> str:
        """The same as text, as `tidemark record` prints it."""
        return text_report(self.facts(depth), width)

    @property
    def current(self) -> dict[str, dict[str, int]]:
        """The bytes of every device now, by category."""
        return _by_category(self._tracker.current())

    @property
    def peak(self) -> dict[str, dict[str, int]]:
        """The bytes of every device at its highest moment, by category."""
        return _by_category(self._tracker.peak())

    def on_step(self, action: Callable[[int], None]) -> None:
        """Calls this after every optimizer step, with their number."""
        self._follower.on_step = action

    @property
    def steps(self) -> int:
        """Optimizer steps so far."""
        return self._follower.steps

    def _meet(self, module: FollowedModule, name: str) -> str:
        self._tracker.set_name(module.number, name)
        return name


_WORDS = ("Parameter", "Buffer", "Gradient", "Activation", "Temporary", "OptimizerState", "Other")


def _by_category(rows: list[tuple[str, list[int]]]) -> dict[str, dict[str, int]]:
    return {
        device: {**dict(zip(_WORDS, numbers, strict=False)), "total": numbers[-1]}
        for device, numbers in rows
    }
