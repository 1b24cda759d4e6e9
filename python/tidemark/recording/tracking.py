"""`tidemark.track`: follows a live program and writes its tape."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tidemark.recording.library import _recorder  # first: it checks that torch has the rest

import torch
from torch import nn, optim
from torch.utils._pytree import tree_leaves

import tidemark
from tidemark.hidden_folders import hidden_folders
from tidemark.optimizer_steps import WantedSteps
from tidemark.own_folder import OwnFolder
from tidemark.recording.follower import FollowedModule, Follower
from tidemark.recording.gpu_counts import GpuCounts
from tidemark.recording.out_of_memory import report_out_of_memory, told_by_gpu
from tidemark.recording.telling import warn
from tidemark.run_facts import (
    end_facts,
    ending_of,
    gpu_facts,
    place_among_ranks,
    start_facts,
    write_meta,
)
from tidemark.tape_saving import check_can_save, is_text, of_rank, open_whole, told
from tidemark.user_script import StepsDone

ON_OUT_OF_MEMORY = ("report", "ignore")
OF_ALL_MODELS = ("Parameter", "Buffer", "Gradient", "Activation", "Temporary", "OptimizerState",
                 "Other")


class Tracking:
    """A program that is being followed; a context manager that can be entered again.

    Everything created inside is followed; what existed before is, if it is named here or belongs to
    a module that is called or an optimizer that steps. Each time the block is left, the file is a
    whole tape; entered again, the tape goes on where it was. `tape` ends it for good.
    """

    def __init__(self, *external: Any, save: str = "", oom: str = "report",
                 operators: bool = False, source: bool = False) -> None:
        if oom not in ON_OUT_OF_MEMORY:
            raise ValueError(f"oom must be one of {', '.join(ON_OUT_OF_MEMORY)}, not {oom}")
        save = of_rank(save, *place_among_ranks())
        check_can_save(save)
        self._oom = oom
        self.save = save  # where this rank's tape is kept; empty for nowhere
        self._folder: OwnFolder | None = None
        self.path = Path(save)  # of the binary tape
        if not save or is_text(save):
            self._folder = OwnFolder()
            self.path = self._folder.path / "run.tape"
        self._told_unsaved = False
        self.tell: Callable[[str], None] = warn_user  # what a full disk did
        if source:
            _recorder.set_hidden_folders(hidden_folders(Path(torch.__file__).parent))
        self._tracker = _recorder.Tracker(tape=str(self.path), operators=operators, source=source)
        self._follower = Follower(self._tracker, self._meet, as_pytorch=False)
        self.end_after(0)
        self._counts = GpuCounts()
        self._depth = 0
        self._started = 0.0
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
            self._started = self._started or time.monotonic()
            write_meta(self._tracker.set_meta, start_facts("record", *place_among_ranks()))
            self._follower.start(outputs=torch._guards.active_fake_mode() is not None)
            self._counts.start()
        self._depth += 1
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._depth -= 1
        if self._depth > 0 or self.is_in_child:
            return
        ending = ending_of(error)
        ran_out = ending.how == "out-of-memory"
        if ran_out and self._tracker.out_of_memory is None:
            # A GPU's allocator cannot be listened to while it fails; its tensors are still here.
            self._tracker.capture_out_of_memory(*told_by_gpu(ending.failure))
        self._follower.stop()
        seconds = time.monotonic() - self._started
        known = end_facts(ending, self.steps, self._wanted.optimizers, seconds)
        known |= real_gpu_facts(self._follower.hears_gpus) | self._counts.stop()
        write_meta(self._tracker.set_meta, known)
        self._close_tape()
        if self._oom == "report" and ran_out:
            path = self.save or str(self.path)
            words = [name for name, _ in self._tracker.categories]
            report_out_of_memory(self._tracker.out_of_memory, words, path, sys.stderr)
            self.finish()

    @property
    def is_in_child(self) -> bool:
        """Whether this is a forked child of the process that is followed: it is none of the run."""
        return bool(self._tracker.is_orphan)

    def finish(self) -> tidemark.Tape:
        """Closes the tape and returns it; nothing can be tracked afterwards."""
        if self.is_in_child:
            raise RuntimeError("the tape belongs to the parent of this process, which writes it")
        if self._tape is None:
            self._tracker.finish()
            self._tape = open_whole(self.path, self._tracker.unsaved)
        return self._tape

    def _close_tape(self) -> None:
        """Makes the file whole, as far as the disk lets us."""
        self._tracker.close_tape()
        self._follower.tell_given_up()
        unsaved = self._tracker.unsaved
        if unsaved is not None and unsaved["problem"]:
            self._tell_once(told(self.save or str(self.path), unsaved, self._tracker.events))
        if is_text(self.save):
            text = open_whole(self.path, unsaved).to_text()
            try:
                Path(self.save).write_text(text, encoding="utf-8")
            except OSError as error:
                self._tell_once(f"{self.save}: cannot write: {error.strerror}; the tape is not kept")

    def _tell_once(self, problem: str) -> None:
        if not self._told_unsaved:
            self.tell(problem)
        self._told_unsaved = True

    @property
    def tape(self) -> tidemark.Tape:
        return self.finish()

    def overview(self, depth: int = 3) -> tidemark.Overview:
        """The first look at the tape: peak, what it is made of, modules down to a depth (0: all)."""
        return self.tape.report(depth=depth)

    def facts(self, depth: int = 3) -> dict[str, Any]:
        """The same as plain data, as `tidemark record --json` has it."""
        return self.overview(depth).to_dict()

    def report(self, depth: int | None = None, width: int = 80) -> str:
        """The same as text, as `tidemark record` prints it; with a depth, all modules down to it."""
        return self.overview(3 if depth is None else depth).to_text(
            width=width, detail="brief" if depth is None else "modules", tape=self.save)

    @property
    def current(self) -> dict[str, dict[str, int]]:
        """The bytes of every device now, by category."""
        return self._by_category(self._tracker.current())

    @property
    def peak(self) -> dict[str, dict[str, int]]:
        """The bytes of every device at its highest moment, by category."""
        return self._by_category(self._tracker.peak())

    def _by_category(self, rows: list[tuple[str, list[int]]]) -> dict[str, dict[str, int]]:
        """Categories of sharded models are there where there is something of them."""
        words = [name for name, _ in self._tracker.categories]
        return {
            device: {word: number for word, number in zip(words, numbers, strict=False)
                     if number or word in OF_ALL_MODELS} | {"total": numbers[-1]}
            for device, numbers in rows
        }

    def on_step(self, action: Callable[[int], None]) -> None:
        """Calls this after every optimizer step, with the number of training steps so far."""
        def count(optimizer: optim.Optimizer) -> None:
            self._wanted.are_made(optimizer)
            action(self.steps)

        self._follower.on_step = count

    def end_after(self, steps: int) -> None:
        """Raises StepsDone when every optimizer that steps has made so many; 0 never does."""
        self._wanted = WantedSteps(steps)

        def count(optimizer: optim.Optimizer) -> None:
            if self._wanted.are_made(optimizer):
                raise StepsDone

        self._follower.on_step = count

    @property
    def steps(self) -> int:
        """Training steps so far: a forward begins one, the optimizer's step ends it."""
        return self._tracker.steps_done

    def _meet(self, module: FollowedModule, name: str) -> str:
        self._tracker.set_name(module.number, name)
        return name


def warn_user(problem: str) -> None:
    warn(f"tidemark: {problem}", stacklevel=5)


def real_gpu_facts(is_heard: bool) -> dict[str, object]:
    """Of the GPU the program uses; nothing if it uses none, since asking would wake one up. Where its
    memory was not heard of in full, no size: nobody can then judge whether it fits."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return {"used.gpu": False}
    if not is_heard:
        return {"used.gpu": True}
    gpu = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {"used.gpu": True} | gpu_facts(gpu.name, gpu.total_memory, (gpu.major, gpu.minor),
                                          torch.cuda.device_count())
