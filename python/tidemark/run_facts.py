"""What a tape says of its run as a whole: how it ended, how long it took, and on what."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.user_script import StepsDone, script_traceback

INTERRUPTED = 130  # the exit code that shells give to what Ctrl-C ended
LONGEST = 2000  # characters; an error's message may be a whole page


@dataclass(frozen=True)
class Ending:
    """How a run ended, in the words of the tape: "script" is by itself, "steps" that it was ended
    after the wanted steps, by us or by an error of what comes later."""

    how: str = "script"
    failure: str = ""  # the error in one line
    source: str = ""  # its place: "train.py:12"
    traceback: str = ""
    exit_code: int = 0  # that Python gives the program

    @property
    def failed(self) -> bool:
        return self.how not in ("script", "steps")


def ending_of(error: BaseException | None) -> Ending:
    """What the error means that came out of the user's program; None is no error."""
    if error is None or isinstance(error, SystemExit) and error.code in (None, 0):
        return Ending()
    if isinstance(error, StepsDone):
        return Ending("steps")
    if isinstance(error, SystemExit):
        text, code = str(error.code), 1
        if isinstance(error.code, int):
            text, code = f"the script ended with exit code {error.code}", error.code
        return Ending("error", text, place_of(error), text + "\n", code)
    how = "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
    if is_out_of_memory(error):
        how = "out-of-memory"
    line = traceback.format_exception_only(error)[-1].strip().split("\n")[0]
    code = INTERRUPTED if how == "interrupted" else 1
    return Ending(how, line, place_of(error), script_traceback(error), code)


def after_steps(ending: Ending) -> Ending:
    """The same where the wanted steps had been made: an error there takes nothing away from them."""
    if ending.how == "interrupted":
        return Ending("steps")
    return replace(ending, how="steps") if ending.how == "error" else ending


def tell(ending: Ending) -> None:
    """Says on standard error why a report is of a part of the run only; nothing, if it is not."""
    if ending.how == "interrupted":
        where = f" at {ending.source}" if ending.source else ""
        print(f"tidemark: interrupted{where}; what was known up to then follows", file=sys.stderr)
    elif ending.failed:
        sys.stderr.write(ending.traceback)
        print("tidemark: the script failed; what was known up to then follows", file=sys.stderr)
    elif ending.failure:
        sys.stderr.write(ending.traceback)
        print("tidemark: the script failed after the wanted steps; the report is of these",
              file=sys.stderr)


def is_out_of_memory(error: BaseException) -> bool:
    """PyTorch has a type for accelerators; the CPU's allocator only says it in words.

    On x86-64 it "can't allocate memory", on arm64 there is "not enough memory": its name is the same.
    """
    return type(error).__name__ == "OutOfMemoryError" or (
        isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)
    )


def place_of(error: BaseException) -> str:
    """The innermost line that is the user's, or a library's other than torch."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not _is_machinery(frame.filename):
            return f"{frame.filename}:{frame.lineno}"
    return ""


def _is_machinery(file: str) -> bool:
    torch = sys.modules.get("torch")
    ours = [str(Path(module.__file__).parent) for module in (torch, sys.modules["tidemark"])
            if module is not None and module.__file__]
    if file.startswith(("<", *ours)):
        return True
    return file.startswith(sysconfig.get_path("stdlib")) and "-packages" not in file


def place_among_ranks() -> tuple[int, int]:
    """Rank and world size, as torchrun tells them."""
    rank, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return int(rank) if rank.isdecimal() else 0, int(size) if size.isdecimal() else 1


def start_facts(kind: str, rank: int, world_size: int) -> dict[str, object]:
    import torch

    facts = {"run.kind": kind, "run.torch": torch.__version__, "run.rank": rank,
             "run.world_size": world_size}
    settings = allocator_settings()
    return facts | {"run.allocator_settings": settings} if settings else facts


def allocator_settings() -> str:
    """How PyTorch's caching allocator was set up; of several variables it reads the first."""
    names = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
    return next((os.environ[name] for name in names if name in os.environ), "")


def end_facts(ending: Ending, steps: int, optimizers: int,
              wall_seconds: float) -> dict[str, object]:
    facts: dict[str, object] = {"run.ended": ending.how, "run.steps": steps,
                                "run.optimizers": optimizers,
                                "run.wall_seconds": f"{wall_seconds:.3f}"}
    if ending.failure:
        where = f" ({ending.source})" if ending.source else ""
        facts["run.failure" if ending.failed else "run.later_failure"] = ending.failure[:LONGEST].rstrip(".") + where
    return facts


def gpu_facts(name: str, memory_bytes: int, capability: tuple[int, int],
              count: int) -> dict[str, object]:
    major, minor = capability
    return {"gpu.name": name, "gpu.memory_bytes": memory_bytes,
            "gpu.capability": f"{major}.{minor}", "gpu.count": count}


def write_meta(set_meta: Callable[[str, str], None], facts: Mapping[str, object]) -> None:
    """Meta is text alone: what is true or false is yes or no."""
    for key, value in facts.items():
        text = ("no", "yes")[value] if isinstance(value, bool) else str(value)
        set_meta(key, text.encode("utf-8", "replace").decode())
