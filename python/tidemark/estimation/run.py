"""Runs the user's script in this process, on virtual GPUs, and gathers what is known afterwards."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from tidemark.estimation.distributed import patch_distributed, set_environment
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.progress import Progress
from tidemark.reporting.tape_facts import device_facts, module_facts
from tidemark.user_script import StepsDone, run_script, script_traceback
from tidemark.virtual_cuda import close_gpus, library, open_gpus
from tidemark.virtual_cuda.patches import Patches

SCHEMA_VERSION = 1


@dataclass
class Outcome:
    """What a run gave: `failure` is the script's own traceback, if it raised."""

    facts: dict[str, Any] = field(default_factory=dict)
    failure: str = ""

    @property
    def exit_code(self) -> int:
        if self.failure:
            return 2
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

    progress = Progress(options.steps, options.quiet)
    steps = OptimizerSteps(options.steps, progress.step)
    modules = ModuleCalls()
    patches = Patches()
    try:
        patch_distributed(patches, options.world_size, options.rank)
        steps.watch()
        modules.watch()
        failure = failure_of(
            program or (lambda: run_script(options.script, options.arguments, options.module))
        )
    finally:
        modules.stop()
        steps.stop()
        progress.clear()
        patches.restore()
        close_gpus()
    facts = gather_facts(options, steps.done, failure, time.monotonic() - started)
    facts["modules"] = module_facts(json.loads(library().finish(options.depth)))
    return Outcome(facts, failure)


def failure_of(program: Callable[[], None]) -> str:
    """Runs it; the traceback if it failed, else nothing."""
    try:
        with redirect_stdout(sys.stderr):
            program()
    except StepsDone:
        return ""
    except SystemExit as ended:
        return "" if ended.code in (None, 0) else f"the script ended with exit code {ended.code}\n"
    except BaseException as error:
        return script_traceback(error)
    return ""


def gather_facts(options: EstimateOptions, steps: int, failure: str, wall: float) -> dict[str, Any]:
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
        "fits": not failure and all(d["peak_allocated_bytes"] <= capacity for d in devices),
        "out_of_memory_at": library().out_of_memory(),
        "devices": devices,
        "depth": options.depth,
        "modules": [],
        "not_seen": not_seen(options, steps),
        "diagnostics": peak["diagnostics"] + library().diagnostics(),
    }


def not_seen(options: EstimateOptions, steps: int) -> list[str]:
    """What a run that was ended early cannot tell."""
    if options.steps == 0:
        return []
    return [
        f"everything after optimizer step {steps}: validation, saving, longer batches "
        "(--steps 0 runs to the script's end)"
    ]
