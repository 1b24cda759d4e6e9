"""The command `tidemark estimate`."""

from __future__ import annotations

import json
import sys

from tidemark.estimation.options import parse_options
from tidemark.estimation.report import text_report
from tidemark.estimation.run import run_estimate
from tidemark.report_output import COULD_NOT_RUN, take_standard_output
from tidemark.run_facts import tell
from tidemark.tape_saving import check_can_save, refusal
from tidemark.user_script import why_not_a_script


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    if problem := why_not_a_script(options.script, options.module):
        print(f"tidemark: {problem}", file=sys.stderr)
        return COULD_NOT_RUN
    try:
        check_can_save(options.save)
    except OSError as error:
        print(f"tidemark: {refusal(options.save, error)}", file=sys.stderr)
        return COULD_NOT_RUN
    output = take_standard_output()
    if output is None:
        return COULD_NOT_RUN
    try:
        outcome = run_estimate(options)
    except (RuntimeError, OSError) as error:
        print(f"tidemark: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    tell(outcome.ending)
    if outcome.unsaved:
        print(f"tidemark: {outcome.unsaved}", file=sys.stderr)
    facts = outcome.facts
    text = json.dumps(facts, indent=2) + "\n" if options.json else text_report(facts, output.width)
    return outcome.exit_code if output.write(text) else COULD_NOT_RUN
