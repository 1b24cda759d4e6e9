"""Launchers given in place of a script: torchrun, accelerate launch."""

from __future__ import annotations

import re
from pathlib import Path

# The command, and the module behind it.
COMMANDS = {"torchrun": "torch.distributed.run",
            "accelerate": "accelerate.commands.accelerate_cli"}

_PROCESSES = re.compile(r"--(nproc[-_]per[-_]node|num[-_]processes)(?:=(.*))?")


def module_of(script: str) -> str | None:
    """The module of a launcher's command; None for anything else, a file of that name included."""
    return None if Path(script).exists() else COMMANDS.get(script)


def processes_of(module: str, arguments: list[str]) -> int:
    """How many GPUs of one machine a launcher is told to use; 1 where it is not told, or is none."""
    if module not in (*COMMANDS.values(), "torch.distributed.launch", "accelerate.commands.launch"):
        return 1
    for number, word in enumerate(arguments):
        found = _PROCESSES.fullmatch(word)
        if found:
            said = found[2] or "".join(arguments[number + 1:number + 2])
            return int(said) if said.isdecimal() and int(said) > 0 else 1
    return 1
