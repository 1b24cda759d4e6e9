"""Runs the user's script in this process, on virtual GPUs, and gathers what is known afterwards."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark._engine import Overview, read_bytes
from tidemark.calibration.choice import Choice, choose_calibration
from tidemark.estimation.children import largest_tape, patch_children
from tidemark.estimation.distributed import patch_distributed
from tidemark.estimation.faults import told_faults
from tidemark.estimation.held_files import SCRATCH, HeldFiles
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.processes import patch_processes
from tidemark.estimation.progress import Progress
from tidemark.estimation.rank_classes import words_of
from tidemark.estimation.ranks import Ranks, environment_of
from tidemark.estimation.safetensors_files import patch_safetensors
from tidemark.host_memory import default_budget
from tidemark.own_folder import OwnFolder
from tidemark.run_facts import (
    Ending,
    after_steps,
    end_facts,
    ending_of,
    gpu_facts,
    start_facts,
    write_meta,
)
from tidemark.user_script import end_fork, error_of, run_script
from tidemark.virtual_cuda import close_gpus, library, open_gpus
from tidemark.virtual_cuda.patches import Patches

if TYPE_CHECKING:
    from tidemark.estimation.steps import OptimizerSteps

# For these cuDNN and kernels of attention take room of their own. Of products, the workspaces that
# cuBLAS keeps tell.
OPERATORS_THAT_MATTER = {
    "convolution": ["aten::convolution", "aten::convolution_backward"],
    "recurrent": ["aten::_cudnn_rnn"],
    "attention": ["aten::_scaled_dot_product_flash_attention",
                  "aten::_scaled_dot_product_efficient_attention",
                  "aten::_scaled_dot_product_cudnn_attention"],
}


@dataclass
class Outcome:
    """What a run gave, and how it ended."""

    data: bytes  # its tape
    ending: Ending
    unsaved: str = ""  # why the tape's file was not written to its end

    def report(self, top: int, depth: int) -> Overview:
        return read_bytes(self.data, "estimate").report(top=top, depth=depth)


def run_estimate(options: EstimateOptions, program: Callable[[], None] | None = None,
                 note: str = "", files: HeldFiles | None = None) -> Outcome:
    """Runs the script (or `program` instead) on virtual GPUs; lets no error of it out.

    The outcome is that of the process that needs most: the script's own, or one that it started. What
    it writes is held back in `files`; without them, it is written.
    """
    with OwnFolder() as folder:
        own = run_here(options, program, folder, note, files)
        largest = largest_tape(folder, own.data)
    if largest == own.data:
        return own
    if options.save:
        read_bytes(largest, options.save).save(options.save)
    return replace(own, data=largest)


def run_here(options: EstimateOptions, program: Callable[[], None] | None, folder: Path,
             note: str, files: HeldFiles | None) -> Outcome:
    """Opens the GPUs, runs the program in this process, closes them."""
    started, process = time.monotonic(), os.getpid()
    if options.is_rank:
        os.environ.update(environment_of(options.rank, options.world_size,
                                         min(options.world_size, options.gpus)))
    choice = choose_calibration(options.calibration, options.gpu)
    open_gpus(
        options.gpu,
        options.gpus,
        on_value=options.on_value,
        raise_out_of_memory=options.oom == "raise",
        cuda_choices=options.cuda_choices,
        save=options.save,
        host_memory=default_budget() if options.host_memory is None else options.host_memory,
        calibration=choice.calls if options.cuda_choices else (),
    )
    from tidemark.ddp_buckets import DdpBuckets
    from tidemark.estimation.modules import ModuleCalls
    from tidemark.estimation.steps import OptimizerSteps

    write_meta(library().set_meta, known_before(options))
    if choice.gpu and options.cuda_choices:
        library().set_meta("run.calibrated_on", choice.gpu)
    progress = Progress(options.steps, options.quiet)
    modules = ModuleCalls()
    steps = OptimizerSteps(options.steps, options.further, progress.step, modules.label_copies)
    buckets = DdpBuckets(library().set_purpose)
    patches = Patches()

    def leave() -> None:
        buckets.stop()
        modules.stop()
        steps.stop()
        progress.stop()
        patches.restore()
        close_gpus()

    try:
        tell_beforehand(options, choice, note)
        patch_distributed(patches)
        Ranks(options.rank).patch(patches)
        patch_children(patches, options, folder)
        patch_processes(patches, options, folder, leave)
        steps.watch()
        modules.watch()
        buckets.start()
        progress.start()
        if files:
            files.begin(folder)
        if scratch := os.environ.get(SCRATCH):  # a process that one with files started holds them, too
            patch_safetensors(patches, scratch)
        script = program or (
            lambda: run_script(options.script, options.arguments, options.module))
        if program is None:  # what torch is made of is no garbage of the script's, whose process this is
            gc.freeze()
            patches.call_afterwards(gc.unfreeze)
        with told_faults():
            error = error_of(lambda: steps.run(script))
        if os.getpid() != process:
            end_fork(error)
        ending = ending_of(error)
        if steps.are_made:
            ending = after_steps(ending)
        further = steps.further_seconds
    finally:
        leave()
    wall = time.monotonic() - started
    write_meta(library().set_meta, known_after(ending, steps, wall))
    tell_alike(modules.shards.classes(), options.rank)
    if ending.how == "steps":
        write_meta(library().set_meta, {"run.further_seconds": f"{further:.3f}"})
    if files and (sentence := files.held().sentence()):
        library().note("files-held-back", "", sentence)
    data = library().finish()
    problem = library().save_problem()
    unsaved = (f"{options.save}: cannot write: {problem}; the tape ends there, the report does not"
               if problem else "")
    return Outcome(data, ending, unsaved)


def tell_beforehand(options: EstimateOptions, choice: Choice, note: str) -> None:
    """What the numbers rest on; `note` says of a child which process it is."""
    if note:
        library().note("child-process", "", note)
    if choice.note and options.cuda_choices:
        library().note("calibration", "", choice.note)
    if options.gpu.is_nominal:
        library().note("nominal-memory", "", f"the memory of {options.gpu.name} is what the box says; its "
                                             "driver reports a little less")


def tell_alike(classes: list[list[int]], rank: int) -> None:
    """Which ranks hold what this one does, and which do not."""
    if not classes:
        return
    own = next((ranks for ranks in classes if rank in ranks), [])
    others = [words_of(ranks) for ranks in classes if ranks is not own]
    library().set_meta("run.ranks_alike", words_of(own))
    library().set_meta("run.rank_classes", "; ".join(map(words_of, classes)))
    if others:
        library().note("uneven-shards", "", f"ranks {words_of(own)} hold shards like rank {rank}'s; those "
                       f"of {' and of '.join(others)} are of other sizes (--rank all)")


def known_before(options: EstimateOptions) -> dict[str, object]:
    gpu = options.gpu
    return start_facts("estimate", options.rank, options.world_size) | gpu_facts(
        gpu.name, gpu.memory_bytes, (gpu.major, gpu.minor), options.gpus)


def known_after(ending: Ending, steps: OptimizerSteps, wall: float) -> dict[str, object]:
    facts = end_facts(ending, steps.done, steps.optimizers, wall)
    facts |= {"run.ops": library().ops(), "used.gpu": library().births() > 0,
              "used.matmul": library().has_used_matmul()}
    for name, operators in OPERATORS_THAT_MATTER.items():
        facts[f"used.{name}"] = library().has_called(operators)
    first = library().out_of_memory()
    if first:
        for name in ("device", "wanted_bytes", "allocated_bytes", "event"):
            facts[f"oom.{name}"] = first[name]
    return facts
