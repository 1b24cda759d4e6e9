"""`--gpu all`: one run for each compute capability, one verdict for each GPU whose memory is known."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import tidemark
from tidemark.estimation.options import EstimateOptions
from tidemark.gpus import CATALOGUE, Gpu


# Of the others a table would promise more than they have.
KNOWN = {name: gpu for name, gpu in CATALOGUE.items() if not gpu.is_nominal}


def estimate_on_every_gpu(options: EstimateOptions) -> tidemark.VerdictsAnswer:
    """CUDA chooses kernels by the capability, so GPUs that share one share a run.

    Raises RuntimeError where a run leaves no tape.
    """
    verdicts: dict[str, tidemark.VerdictAnswer] = {}
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        alike = by_capability()
        for number, names in enumerate(alike, 1):
            if not options.quiet:
                print(f"tidemark: run {number} of {len(alike)}: {', '.join(names)}", file=sys.stderr)
            tape = run_on(names[0], options, Path(folder) / f"{number}.tape")
            for name in names:
                verdicts[name] = tape.verdict(gpu=facts_of(CATALOGUE[name]))
    return tidemark.VerdictsAnswer([verdicts[name] for name in sorted_names()])


def by_capability() -> list[list[str]]:
    """Names of GPUs that CUDA treats alike; the one with the most memory first."""
    groups: dict[tuple[int, int], list[str]] = {}
    for name, gpu in KNOWN.items():
        groups.setdefault((gpu.major, gpu.minor), []).append(name)
    return [sorted(names, key=lambda name: -CATALOGUE[name].memory_bytes)
            for names in groups.values()]


def sorted_names() -> list[str]:
    return sorted(KNOWN, key=lambda name: CATALOGUE[name].memory_bytes)


def facts_of(gpu: Gpu) -> tidemark.GpuFacts:
    return tidemark.GpuFacts(gpu.name, gpu.memory_bytes, f"{gpu.major}.{gpu.minor}")


def run_on(gpu: str, options: EstimateOptions, tape: Path) -> tidemark.Tape:
    """A process of its own: virtual GPUs are opened once."""
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "--gpu", gpu, "--quiet",
                           "--save", str(tape), *flags_of(options)],
                          stdout=subprocess.DEVNULL, check=False)
    if not tape.exists():
        raise RuntimeError(f"the run on {gpu} ended with exit code {done.returncode}")
    return tidemark.open(tape)


def flags_of(options: EstimateOptions) -> list[str]:
    """All but the GPU and the report, as the command takes them."""
    flags = ["--gpus", str(options.gpus), "--rank", str(options.rank),
             "--steps", str(options.steps),
             "--further", str(options.further),
             "--on-value", options.on_value, "--oom", options.oom]
    if options.host_memory is not None:
        flags += ["--host-memory", str(options.host_memory)]
    if options.is_rank:
        flags += ["--world-size", str(options.world_size)]
    if not options.cuda_choices:
        flags.append("--no-cuda-choices")
    if options.module:
        flags.append("-m")
    return [*flags, options.script, *options.arguments]
