"""The command `tidemark estimate`."""

from __future__ import annotations

import json
import shutil
import sys

from tidemark.estimation.options import parse_options
from tidemark.estimation.report import text_report
from tidemark.estimation.run import run_estimate
from tidemark.user_script import why_not_a_script

COULD_NOT_RUN = 2


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    if problem := why_not_a_script(options.script, options.module):
        print(f"tidemark: {problem}", file=sys.stderr)
        return COULD_NOT_RUN
    try:
        outcome = run_estimate(options)
    except (RuntimeError, OSError) as error:
        print(f"tidemark: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    if outcome.failure:
        sys.stderr.write(outcome.failure)
        print("tidemark: the script failed; what was known up to then follows", file=sys.stderr)
    if options.json:
        print(json.dumps(outcome.facts, indent=2))
    else:
        sys.stdout.write(text_report(outcome.facts, shutil.get_terminal_size((80, 24)).columns))
    return outcome.exit_code
