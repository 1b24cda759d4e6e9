"""The command `tidemark record`: runs a script as it is, and reports what its memory did."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import redirect_stdout
from typing import Any

from tidemark.recording.options import RecordOptions, parse_options
from tidemark.recording.report import text_report
from tidemark.user_script import StepsDone, run_script, script_traceback, why_not_a_script

USAGE_ERROR = 2


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    if problem := why_not_a_script(options.script, options.module):
        print(f"tidemark: {problem}", file=sys.stderr)
        return USAGE_ERROR
    from tidemark.recording.tracking import Tracking

    tracking = Tracking(save=options.save, operators=options.operators)
    error = error_of(options, tracking)
    if error is not None and not isinstance(error, SystemExit):
        sys.stderr.write(script_traceback(error))
        print("tidemark: the script failed; what was known up to then follows", file=sys.stderr)
    print_report(options, tracking)
    return exit_code_of(error)


def error_of(options: RecordOptions, tracking: Any) -> BaseException | None:
    """Runs the script; its error, if it ended with one."""

    def count_step(steps: int) -> None:
        if options.steps and steps >= options.steps:
            raise StepsDone

    tracking.on_step(count_step)
    try:
        with redirect_stdout(sys.stderr), tracking:
            run_script(options.script, options.arguments, options.module)
    except StepsDone:
        return None
    except BaseException as error:
        return error
    return None


def exit_code_of(error: BaseException | None) -> int:
    """The script's own, as Python gives it."""
    if error is None:
        return 0
    if not isinstance(error, SystemExit):
        return 1
    if error.code is None or isinstance(error.code, int):
        return error.code or 0
    print(error.code, file=sys.stderr)
    return 1


def print_report(options: RecordOptions, tracking: Any) -> None:
    facts = tracking.facts(options.depth)
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        sys.stdout.write(text_report(facts, shutil.get_terminal_size((80, 24)).columns))
    if options.save:
        print(f"tidemark: the tape is {options.save}", file=sys.stderr)
