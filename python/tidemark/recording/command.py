"""The command `tidemark record`: runs a script as it is, and reports what its memory did."""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from tidemark.recording.options import RecordOptions, parse_options

RAN, RAN_OUT, FAILED = 0, 1, 2


class StepsDone(BaseException):
    """Ends the script after its last wanted step; no `except Exception` of the user stops it."""


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    if not options.module and not Path(options.script).is_file():
        print(f"tidemark: {options.script}: no such script\n  hint: name a Python file, or -m MODULE",
              file=sys.stderr)
        return FAILED
    from tidemark.recording.out_of_memory import is_out_of_memory
    from tidemark.recording.tracking import Tracking

    tracking = Tracking(save=options.save)
    error = run_script(options, tracking)
    if error is not None:
        sys.stderr.write("".join(script_traceback(error)))
        print("tidemark: the script failed; what was known up to then follows", file=sys.stderr)
    print_report(options, tracking)
    if error is None:
        return RAN
    return RAN_OUT if is_out_of_memory(error) else FAILED


def run_script(options: RecordOptions, tracking: Any) -> BaseException | None:
    """The script's error, if it ended with one."""
    sys.argv = [options.script, *options.arguments]

    def count_step(steps: int) -> None:
        if options.steps and steps >= options.steps:
            raise StepsDone

    tracking.on_step(count_step)
    try:
        with redirect_stdout(sys.stderr), tracking:
            if options.module:
                sys.path.insert(0, os.getcwd())
                runpy.run_module(options.script, run_name="__main__", alter_sys=True)
            else:
                sys.path.insert(0, str(Path(options.script).resolve().parent))
                runpy.run_path(options.script, run_name="__main__")
    except StepsDone:
        return None
    except SystemExit as ended:
        return None if ended.code in (None, 0) else ended
    except BaseException as error:
        return error
    return None


def script_traceback(error: BaseException) -> list[str]:
    """The traceback from the script's first line on."""
    entries = error.__traceback__
    while entries is not None:
        file = entries.tb_frame.f_code.co_filename
        if "tidemark" + os.sep + "recording" not in file and "runpy" not in file:
            break
        entries = entries.tb_next
    return traceback.format_exception(type(error), error, entries)


def print_report(options: RecordOptions, tracking: Any) -> None:
    tape = tracking.tape
    peak, scopes = tape.peak(), tape.scopes(depth=options.depth)
    if options.json:
        facts = {"report": "record", "steps": tracking.steps,
                 "peak": json.loads(peak.to_json()), "scopes": json.loads(scopes.to_json())}
        print(json.dumps(facts, indent=2))
    else:
        print(peak)
        print(scopes)
    if options.save:
        print(f"tidemark: the tape is {options.save}", file=sys.stderr)
