"""One estimate in a process of its own, for those that need several: virtual GPUs are opened once.

It is a fork of this one, which has torch and nothing else: to import that takes longer than most runs.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import tidemark
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.told_run import run_and_tell
from tidemark.forked import run_in_fork
from tidemark.report_output import COULD_NOT_RUN
from tidemark.virtual_cuda import load


def run_apart(options: EstimateOptions, tape: Path, **changes: Any) -> tidemark.Tape:
    """The same run, but for `changes` of its options. Raises RuntimeError where it leaves no tape."""
    options = replace(options, quiet=True, save=str(tape), **changes)

    def run() -> int:
        try:
            run_and_tell(options)
        except (RuntimeError, OSError) as error:
            print(f"tidemark: {error}", file=sys.stderr)
            return COULD_NOT_RUN
        return 0

    load()
    importlib.import_module("torch")
    code = run_in_fork(run)
    if not tape.exists():
        raise RuntimeError(f"the run ended with exit code {code}, and without a tape")
    return tidemark.open(tape)


def tell_progress(options: EstimateOptions, what: str) -> None:
    if not options.quiet:
        print(f"tidemark: {what}", file=sys.stderr)
