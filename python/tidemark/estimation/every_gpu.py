"""`--gpu all`: one run for each compute capability, one verdict for each GPU whose memory is known."""

from __future__ import annotations

import tidemark
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.runs_apart import run_apart, tell_progress
from tidemark.gpus import CATALOGUE, Gpu
from tidemark.own_folder import OwnFolder


# Of the others a table would promise more than they have.
KNOWN = {name: gpu for name, gpu in CATALOGUE.items() if not gpu.is_nominal}


def estimate_on_every_gpu(options: EstimateOptions) -> tidemark.VerdictsAnswer:
    """CUDA chooses kernels by the capability, so GPUs that share one share a run.

    Raises RuntimeError where a run leaves no tape.
    """
    verdicts: dict[str, tidemark.VerdictAnswer] = {}
    with OwnFolder() as folder:
        alike = by_capability()
        for number, names in enumerate(alike, 1):
            tell_progress(options, f"run {number} of {len(alike)}: {', '.join(names)}")
            tape = run_apart(options, folder / f"{number}.tape", gpu=CATALOGUE[names[0]])
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
