"""Runs `tidemark estimate` as its users do: as a command of its own, or in a fork that is the same."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forked_commands import run_command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass
class Estimate:
    """What one run of the command gave; `facts` is its JSON report."""

    exit_code: int
    facts: dict[str, Any]
    script_output: str


def run_estimate(*arguments: object, timeout: float = 300) -> Estimate:
    """run_estimate("--gpus", 2, script, "--layers", 3): options, the script, its own arguments."""
    command = [sys.executable, "-m", "tidemark", "estimate", "--json", *map(str, arguments)]
    return told(subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False))


def ask_estimate(*arguments: object, timeout: float = 300) -> Estimate:
    """The same, for tests to which the process itself is nothing: without a fresh Python for each."""
    return told(run_command("estimate", "--json", *arguments, timeout=timeout))


def told(done: subprocess.CompletedProcess[str]) -> Estimate:
    facts = json.loads(done.stdout) if done.stdout else {}
    return Estimate(done.returncode, facts, done.stderr)
