"""The command `tidemark estimate`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tidemark.estimation.options import parse_options
from tidemark.estimation.report import text_report
from tidemark.estimation.run import run_estimate

COULD_NOT_RUN = 2


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    if not options.module and not Path(options.script).is_file():
        what = "is a directory" if Path(options.script).is_dir() else "no such script"
        print(f"tidemark: {options.script}: {what}\n  hint: name a Python file, or -m MODULE",
              file=sys.stderr)
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
