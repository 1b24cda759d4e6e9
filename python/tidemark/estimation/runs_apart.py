"""One estimate in a process of its own, for those that need several: virtual GPUs are opened once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import tidemark
from tidemark.estimation.options import EstimateOptions


def run_apart(options: EstimateOptions, tape: Path, **changes: Any) -> tidemark.Tape:
    """The same run, but for `changes` of its options. Raises RuntimeError where it leaves no tape."""
    options = replace(options, quiet=True, save=str(tape), **changes)
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", *flags_of(options)],
                          stdout=subprocess.DEVNULL, check=False)
    if not tape.exists():
        raise RuntimeError(f"the run ended with exit code {done.returncode}, and without a tape")
    return tidemark.open(tape)


def tell_progress(options: EstimateOptions, what: str) -> None:
    if not options.quiet:
        print(f"tidemark: {what}", file=sys.stderr)


def flags_of(options: EstimateOptions) -> list[str]:
    """All but the report, as the command takes them."""
    flags = ["--gpu", options.gpu_name, "--gpus", str(options.gpus), "--save", options.save,
             "--steps", str(options.steps), "--further", str(options.further),
             "--on-value", options.on_value, "--oom", options.oom, "--rank", str(options.rank)]
    if options.quiet:
        flags.append("--quiet")
    if options.host_memory is not None:
        flags += ["--host-memory", str(options.host_memory)]
    if options.is_rank:
        flags += ["--world-size", str(options.world_size)]
    if options.calibration:
        flags += ["--calibration", options.calibration]
    if not options.cuda_choices:
        flags.append("--no-cuda-choices")
    if options.module:
        flags.append("-m")
    return [*flags, options.script, *options.arguments]
