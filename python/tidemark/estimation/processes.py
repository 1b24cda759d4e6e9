"""Processes that the script starts with multiprocessing: each on virtual GPUs of its own, with a tape.

A spawned one is a fresh Python that opens GPUs before it does anything else. A forked one has what its
parent had: it closes that, which is its parent's, and opens its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import popen_spawn_posix, process, spawn
from pathlib import Path
from typing import Any

from tidemark.estimation.options import EstimateOptions
from tidemark.virtual_cuda import library
from tidemark.virtual_cuda.patches import Patches

# Workers that make batches or tokens for their parent: to open GPUs costs each of them a second.
LOADERS = ("torch.utils.data",)
POOLS = ("multiprocessing.pool", "concurrent.futures")


def patch_processes(patches: Patches, options: EstimateOptions, folder: Path, leave: Callable[[], None]) -> None:
    """From here on; their tapes will be in the folder. `leave` closes what a forked child inherits."""
    bootstrap: Any = vars(process.BaseProcess)["_bootstrap"]
    launch: Any = vars(popen_spawn_posix.Popen)["_launch"]
    command_line = spawn.get_command_line
    spawned: list[Any] = []  # those being launched
    own = os.getpid()

    def bootstrap_virtual(self: Any, *args: Any, **kwargs: Any) -> int:
        if os.getpid() == own or is_from(self, LOADERS + POOLS):  # it is no fork of this one
            return int(bootstrap(self, *args, **kwargs))
        return run_forked(self.name, lambda: bootstrap(self, *args, **kwargs), options, folder, leave)

    def launch_virtual(self: Any, process_obj: Any) -> None:
        spawned.append(process_obj)
        try:
            launch(self, process_obj)
        finally:
            spawned.pop()

    def command_of(**handles: Any) -> list[str]:
        command = command_line(**handles)
        if spawned and not is_from(spawned[-1], LOADERS):
            told = "".join(f", {name}={value!r}" for name, value in handles.items())
            start = command.index("-c") + 1
            command[start] = (f"from tidemark.estimation.spawned import main; "
                              f"main({str(folder)!r}, {spawned[-1].name!r}{told})")
        return command

    patches.set(process.BaseProcess, "_bootstrap", bootstrap_virtual)
    patches.set(popen_spawn_posix.Popen, "_launch", launch_virtual)
    patches.set(spawn, "get_command_line", command_of)


def is_from(started: Any, modules: tuple[str, ...]) -> bool:
    """Whether what the process is to run is a function of one of these."""
    target = getattr(started, "_target", None)
    return str(getattr(target, "__module__", "")).startswith(modules)


def run_forked(name: str, work: Callable[[], Any], options: EstimateOptions, folder: Path,
               leave: Callable[[], None]) -> int:
    had_used_gpu = library().births() > 0
    leave()
    told = replace(options, script=name, arguments=[], module=False, save="", quiet=True)
    return run_process(name, work, told, folder, had_used_gpu)


def run_process(name: str, work: Callable[[], Any], options: EstimateOptions, folder: Path,
                after_cuda: bool = False) -> int:
    """The exit code of the process; its tape is left in the folder, if a GPU was used."""
    from tidemark.estimation.run import run_estimate

    codes: list[int] = []

    def program() -> None:
        codes.append(code_of(work))
        if after_cuda and library().births() > 0:
            library().diagnose("forked-after-cuda", "", "a process that was forked after its parent had used a GPU "
                               "used one, too: a real PyTorch refuses that; start it by spawn")

    outcome = run_estimate(options, program, note=f"the report is of a process that the script started: {name}")
    if folder.exists():  # whoever started it may have ended before
        (folder / f"{os.getpid()}.tape").write_bytes(outcome.data)
    return codes[0] if codes else outcome.ending.exit_code


def code_of(work: Callable[[], Any]) -> int:
    """multiprocessing tells of errors itself, and ends with a number."""
    try:
        return int(work() or 0)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
