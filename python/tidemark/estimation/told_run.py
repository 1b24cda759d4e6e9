"""One run of the script, and what standard error says of its end."""

from __future__ import annotations

import sys

from tidemark.estimation.held_files import HeldFiles
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.run import Outcome, run_estimate
from tidemark.run_facts import tell

RANK_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def run_and_tell(options: EstimateOptions) -> Outcome:
    """Raises RuntimeError or OSError where there is nothing to report."""
    outcome = run_estimate(options, files=HeldFiles([options.save]))
    tell(outcome.ending)
    if outcome.ending.failure in (f"KeyError: {name!r}" for name in RANK_VARIABLES):
        print("  hint: torchrun sets it: --world-size N runs the script as one rank of N",
              file=sys.stderr)
    if outcome.unsaved:
        print(f"tidemark: {outcome.unsaved}", file=sys.stderr)
    return outcome
