"""tidemark.estimate(function): a function on virtual GPUs, in a process of its own.

Virtual GPUs must be there before torch is imported, and they hide real ones for good: the caller's
process keeps neither. The function travels by pickle, its module is imported afresh over there.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.estimation.answer import Estimate, EstimateError
from tidemark.estimation.held_files import environment
from tidemark.estimation.options import EstimateOptions, further_seconds, gpus_for, wanted_steps
from tidemark.gpus import DEFAULT_GPU, Gpu, find_gpu
from tidemark.tape_saving import check_can_save

# Set in the fresh process: a script without a guard would start another one for ever.
INSIDE = "TIDEMARK_INSIDE_ESTIMATE"


@dataclass
class Job:
    """All that the fresh process needs."""

    options: EstimateOptions
    program: bytes  # pickled: function and arguments
    main_file: str  # where __main__ is to be had from, if the function is from there
    path: list[str]


@dataclass
class Told:
    """All that the fresh process tells."""

    tape: bytes
    failure: str  # the traceback


def estimate(
    function: Callable[..., Any],
    *arguments: Any,
    gpu: str | Gpu = DEFAULT_GPU,
    gpus: int | None = None,
    world_size: int | None = None,
    rank: int = 0,
    steps: int | None = None,
    further: float | None = None,
    save: str | os.PathLike[str] = "",
    on_value: str = "plausible",
    oom: str = "continue",
    host_memory: int | None = None,
    top: int = 10,
) -> Estimate:
    """Calls function(*arguments) on virtual GPUs and says what its memory would be.

    Options are those of `tidemark estimate`. Raises EstimateError where the function raises.
    """
    if not callable(function):
        raise TypeError(f"estimate takes a function, not {type(function).__name__} "
                        "(for a script: tidemark estimate SCRIPT)")
    if os.environ.get(INSIDE):
        raise EstimateError("tidemark.estimate was called while the function's own module was being "
                            'imported (put the call under `if __name__ == "__main__":`)')
    options = EstimateOptions(
        gpu=gpu if isinstance(gpu, Gpu) else find_gpu(gpu),
        gpus=gpus_for(world_size or 1) if gpus is None else gpus,
        world_size=1 if world_size is None else world_size, is_rank=world_size is not None,
        rank=rank, steps=wanted_steps(steps), further=further_seconds(steps, further),
        save=os.fspath(save), on_value=on_value, oom=oom, host_memory=host_memory, top=top,
        quiet=True,
    )
    check(options)
    check_can_save(options.save)
    return run(Job(options, pickled(function, arguments), main_file(), sys.path[:]))


def check(options: EstimateOptions) -> None:
    if options.on_value not in ("plausible", "zero", "bound", "error"):
        raise ValueError(f"on_value is plausible, zero, bound or error, not {options.on_value!r}")
    if options.oom not in ("continue", "raise"):
        raise ValueError(f"oom is continue or raise, not {options.oom!r}")
    if not 0 <= options.rank < options.world_size:
        raise ValueError(f"rank {options.rank} is not in a world of {options.world_size}")
    if options.gpus < 1 or options.steps < 0 or options.further < 0:
        raise ValueError("gpus must be at least 1, steps and further must not be negative")


def main_file() -> str:
    file = getattr(sys.modules["__main__"], "__file__", None)
    return str(Path(file).resolve()) if file else ""


def pickled(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """By name where the fresh process finds it by name, else by value, if cloudpickle is there."""
    by_name = getattr(function, "__module__", None) != "__main__" or bool(main_file())
    try:
        if by_name:
            return pickle.dumps((function, arguments))
    except (pickle.PicklingError, AttributeError, TypeError):
        pass
    try:
        by_value = importlib.import_module("cloudpickle")
    except ImportError:
        raise EstimateError(
            f"{getattr(function, '__qualname__', function)!s} cannot be sent to a fresh process (define "
            "it at the top of a module, with arguments that can be pickled, or install cloudpickle)"
        ) from None
    sent: bytes = by_value.dumps((function, arguments))
    return sent


def how_ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name} (standard error says where)"
    return f"ended with exit code {code}"


def run(job: Job) -> Estimate:
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder) / "job", Path(folder) / "answer"
        question.write_bytes(pickle.dumps(job))
        done = subprocess.run(
            [sys.executable, "-m", "tidemark.estimation.job", str(question), str(answer)],
            stdout=sys.__stderr__, env={**environment(), INSIDE: "1"}, check=False,
        )
        if not answer.exists():
            raise EstimateError(f"the estimate's process {how_ended(done.returncode)}")
        told: Told = pickle.loads(answer.read_bytes())
    found = Estimate(told.tape, job.options.top) if told.tape else None
    if told.failure or found is None:
        raise EstimateError(f"the function failed on virtual GPUs:\n{told.failure}",
                            found.facts if found else None)
    return found
