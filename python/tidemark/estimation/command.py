"""The command `tidemark estimate`."""

from __future__ import annotations

import sys
from typing import Any

from tidemark.estimation.every_gpu import estimate_on_every_gpu
from tidemark.estimation.every_rank import estimate_every_rank
from tidemark.estimation.options import EstimateOptions, parse_options
from tidemark.estimation.told_run import run_and_tell
from tidemark.report_output import COULD_NOT_RUN, ReportOutput
from tidemark.script_options import take_output_for
from tidemark.tape_saving import check_can_save, refusal

# Of the verdict. Nobody can tell: the run is as good as not made.
EXIT_CODES = {"fits": 0, "tight": 0, "does not fit": 1, "cannot tell": COULD_NOT_RUN}


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    output = take_output_for(options.script, options.module)
    if output is None:
        return COULD_NOT_RUN
    try:
        check_can_save(options.save)
    except OSError as error:
        print(f"tidemark: {refusal(options.save, error)}", file=sys.stderr)
        return COULD_NOT_RUN
    try:
        if options.every_gpu:
            answer = estimate_on_every_gpu(options)
            return show([answer], answer.verdicts, options, output)
        if options.is_table:
            runs = estimate_every_rank(options)
            answers = [runs.verdicts] if options.world_sizes else [runs.verdicts, runs]
            return show(answers, runs.verdicts.verdicts, options, output)
        outcome = run_and_tell(options)
    except (RuntimeError, OSError) as error:
        print(f"tidemark: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    report = outcome.report(options.top, options.depth)
    return show([report], [report.verdict], options, output)


def show(answers: list[Any], verdicts: list[Any], options: EstimateOptions,
         output: ReportOutput) -> int:
    """Prints answers, as JSON the first of them; the exit code of the best verdict, of one job's ranks
    that of the worst."""
    text = answers[0].to_json() if options.json else "\n".join(answer.to_text(
        width=output.width, colour=output.colour, detail=options.detail, tape=options.save)
        for answer in answers)
    if not output.write(text):
        return COULD_NOT_RUN
    codes = [EXIT_CODES[one.verdict] for one in verdicts]
    return max(codes) if options.every_rank and not options.world_sizes else min(codes)
