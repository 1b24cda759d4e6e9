"""Runs the user's script in this process, on virtual GPUs, and gathers what is known afterwards."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tidemark.estimation.distributed import patch_distributed, set_environment
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.progress import Progress
from tidemark.report_output import COULD_NOT_RUN
from tidemark.reporting.tape_facts import device_facts, module_facts
from tidemark.run_facts import (
    INTERRUPTED,
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

SCHEMA_VERSION = 1

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

    facts: dict[str, Any]
    ending: Ending
    unsaved: str = ""  # why the tape's file was not written to its end

    @property
    def exit_code(self) -> int:
        if self.ending.failed:
            return INTERRUPTED if self.ending.how == "interrupted" else COULD_NOT_RUN
        return 0 if self.facts["fits"] else 1


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
    write_meta(library().set_meta, known_after(ending, steps.done, wall))
    facts = gather_facts(options, steps.done, ending, wall)
    facts["modules"] = module_facts(json.loads(library().finish(options.depth)))
    unsaved = ""
    if problem := library().save_problem():
        unsaved = f"{options.save}: cannot write: {problem}; the tape ends there, the report does not"
        facts["diagnostics"].append({"code": "tape-cut", "severity": "warning", "count": 1,
                                     "where": options.save, "message": unsaved})
    return Outcome(facts, ending, unsaved)


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


def known_after(ending: Ending, steps: int, wall: float) -> dict[str, object]:
    facts = end_facts(ending, steps, wall) | {
        "run.ops": library().ops(), "used.gpu": bool(json.loads(library().peak_json())["devices"])}
    for name, operators in OPERATORS_THAT_MATTER.items():
        facts[f"used.{name}"] = library().has_called(operators)
    first = library().out_of_memory()
    if first:
        for name in ("device", "wanted_bytes", "allocated_bytes", "event"):
            facts[f"oom.{name}"] = first[name]
    return facts


def gather_facts(options: EstimateOptions, steps: int, ending: Ending, wall: float) -> dict[str, Any]:
    import torch

    peak = json.loads(library().peak_json())
    devices = [device_facts(device, options.top) for device in peak["devices"]]
    capacity = options.gpu.memory_bytes
    return {
        "schema_version": SCHEMA_VERSION,
        "report": "estimate",
        "torch_version": torch.__version__,
        "gpu": {"name": options.gpu.name, "memory_bytes": capacity},
        "world_size": options.world_size,
        "rank": options.rank,
        "steps": steps,
        "ops": library().ops(),
        "wall_seconds": round(wall, 3),
        "fits": not ending.failed and all(d["peak_allocated_bytes"] <= capacity for d in devices),
        "out_of_memory_at": library().out_of_memory(),
        "devices": devices,
        "depth": options.depth,
        "modules": [],
        "not_seen": not_seen(ending, steps),
        "diagnostics": peak["diagnostics"] + library().diagnostics(),
    }


def not_seen(ending: Ending, steps: int) -> list[str]:
    """What a run that we ended early cannot tell."""
    if ending.how != "steps":
        return []
    return [
        f"everything after optimizer step {steps}: validation, saving, longer batches "
        "(--steps 0 runs to the script's end)"
    ]
