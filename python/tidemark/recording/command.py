"""The command `tidemark record`: runs a script as it is, and reports what its memory did."""

from __future__ import annotations

import sys
from typing import Any

from tidemark._engine import Overview
from tidemark.recording.options import RecordOptions, parse_options
from tidemark.report_output import COULD_NOT_RUN, ReportOutput
from tidemark.run_facts import INTERRUPTED, ending_of, tell
from tidemark.script_options import take_output_for
from tidemark.tape_saving import refusal
from tidemark.user_script import StepsDone, end_fork, error_of, run_script


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    output = take_output_for(options.script, options.module)
    if output is None:
        return COULD_NOT_RUN
    from tidemark.recording.tracking import Tracking

    try:
        tracking = Tracking(save=options.save, operators=options.operators,
                            source=options.source)
    except OSError as error:
        print(f"tidemark: {refusal(error.filename or options.save, error)}", file=sys.stderr)
        return COULD_NOT_RUN
    tracking.tell = say
    ended_with = error_of(lambda: run_tracked(options, tracking))
    if tracking.is_in_child:
        end_fork(ended_with)
    tell(ending_of(ended_with))
    written = output.write(report_of(options, tracking, output))
    if tracking.save:
        print(f"tidemark: the tape is {tracking.save}", file=sys.stderr)
    return exit_code_of(ended_with) if written else COULD_NOT_RUN


def say(text: str) -> None:
    print(f"tidemark: {text}", file=sys.stderr)


def run_tracked(options: RecordOptions, tracking: Any) -> None:
    tracking.end_after(options.steps)
    with tracking:
        run_script(options.script, options.arguments, options.module)


def exit_code_of(error: BaseException | None) -> int:
    """The script's own, as Python gives it."""
    if error is None or isinstance(error, StepsDone):
        return 0
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, SystemExit) and isinstance(error.code, int | None):
        return error.code or 0
    return 1


def report_of(options: RecordOptions, tracking: Any, output: ReportOutput) -> str:
    answer: Overview = tracking.overview(options.depth)
    if options.json:
        return answer.to_json()
    return answer.to_text(width=output.width, colour=output.colour, detail=options.detail,
                          tape=tracking.save)
