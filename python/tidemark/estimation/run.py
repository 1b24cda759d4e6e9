"""Runs the user's script in this process, on virtual GPUs, and gathers what is known afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tidemark._engine import Overview, read_bytes
from tidemark.estimation.distributed import patch_distributed, set_environment
from tidemark.estimation.faults import told_faults
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.progress import Progress
from tidemark.host_memory import default_budget
from tidemark.run_facts import (
    Ending,
    end_facts,
    ending_of,
    gpu_facts,
    start_facts,
    write_meta,
)
from tidemark.user_script import run_script
from tidemark.virtual_cuda import close_gpus, library, open_gpus
from tidemark.virtual_cuda.patches import Patches

# For these CUDA's libraries take room of their own: cuBLAS, cuDNN, kernels of attention.
OPERATORS_THAT_MATTER = {
    "matmul": ["aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::addbmm", "aten::mv",
               "aten::addmv", "aten::dot", "aten::linear", "aten::_addmm_activation",
               "aten::_int_mm", "aten::_scaled_mm", "aten::_grouped_mm"],
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


def run_estimate(options: EstimateOptions, program: Callable[[], None] | None = None) -> Outcome:
    """Opens the GPUs, runs the script (or `program` instead), closes them; lets no error of it out."""
    started = time.monotonic()
    set_environment(options.world_size, options.rank, options.gpus)
    open_gpus(
        options.gpu,
        options.gpus,
        on_value=options.on_value,
        raise_out_of_memory=options.oom == "raise",
        cuda_choices=options.cuda_choices,
        save=options.save,
        host_memory=default_budget() if options.host_memory is None else options.host_memory,
    )
    from tidemark.estimation.modules import ModuleCalls
    from tidemark.estimation.steps import OptimizerSteps

    write_meta(library().set_meta, known_before(options))
    progress = Progress(options.steps, options.quiet)
    steps = OptimizerSteps(options.steps, progress.step)
    modules = ModuleCalls()
    patches = Patches()
    try:
        patch_distributed(patches, options.world_size, options.rank)
        steps.watch()
        modules.watch()
        progress.start()
        with told_faults():
            ending = ending_of(error_of(
                program or (lambda: run_script(options.script, options.arguments, options.module))
            ))
    finally:
        modules.stop()
        steps.stop()
        progress.stop()
        patches.restore()
        close_gpus()
    wall = time.monotonic() - started
    write_meta(library().set_meta, known_after(ending, steps.done, wall, options.gpus))
    data = library().finish()
    problem = library().save_problem()
    unsaved = (f"{options.save}: cannot write: {problem}; the tape ends there, the report does not"
               if problem else "")
    return Outcome(data, ending, unsaved)


def error_of(program: Callable[[], None]) -> BaseException | None:
    """Runs it; what came out of it, if anything did."""
    try:
        program()
    except BaseException as error:
        return error
    return None


def known_before(options: EstimateOptions) -> dict[str, object]:
    gpu = options.gpu
    return start_facts("estimate", options.rank, options.world_size) | gpu_facts(
        gpu.name, gpu.memory_bytes, (gpu.major, gpu.minor), options.gpus)


def known_after(ending: Ending, steps: int, wall: float, gpus: int) -> dict[str, object]:
    births = sum(library().counters(gpu)["births"] for gpu in range(gpus))
    facts = end_facts(ending, steps, wall) | {"run.ops": library().ops(), "used.gpu": births > 0}
    for name, operators in OPERATORS_THAT_MATTER.items():
        facts[f"used.{name}"] = library().has_called(operators)
    first = library().out_of_memory()
    if first:
        for name in ("device", "wanted_bytes", "allocated_bytes", "event"):
            facts[f"oom.{name}"] = first[name]
    return facts
