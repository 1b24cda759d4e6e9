"""What every verb that runs a script takes on its command line, and asks before it runs one."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from tidemark.report_output import ReportOutput, take_standard_output
from tidemark.user_script import why_not_a_script


class RunParser(argparse.ArgumentParser):
    """Says when its help could not be written, which argparse keeps to itself."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            (file or sys.stderr).write(message)


def count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def add_report(parser: argparse.ArgumentParser) -> None:
    """Adds what shapes the report of a run."""
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.add_argument("--depth", type=count, default=None, metavar="N",
                        help="all modules down to N levels, 0 = all (else 3, the largest alone)")
    parser.add_argument("--full", action="store_true", help="every device and module, and all notes")


def take_report(parsed: argparse.Namespace) -> dict[str, Any]:
    """The options of a report: who asks for modules wants to see what they are made of."""
    words = vars(parsed)
    is_full, depth = words.pop("full"), words["depth"]
    words["detail"] = "full" if is_full else "brief" if depth is None else "modules"
    words["depth"] = 3 if depth is None else depth
    return words


def add_script(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds -m, SCRIPT and ARGS: the last, for ARGS takes all that follows."""
    parser.add_argument("-m", dest="module", action="store_true",
                        help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT", help=what)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS",
                        help="the script's own arguments")


def take_output_for(script: str, is_module: bool) -> ReportOutput | None:
    """Where the report of a script goes; None, and a sentence, where it cannot be run or reported."""
    if problem := why_not_a_script(script, is_module):
        print(f"tidemark: {problem}", file=sys.stderr)
        return None
    return take_standard_output()


def note_on_flags(parser: argparse.ArgumentParser, script: str, arguments: list[str]) -> str:
    """What to say where a flag of ours comes after the script, and so is the script's; or nothing."""
    ours = {flag for action in parser._actions for flag in action.option_strings
            if flag.startswith("--") and flag != "--help"}
    flags = dict.fromkeys(word.split("=")[0] for word in arguments)
    found = " and ".join(flag for flag in flags if flag in ours)
    if not found:
        return ""
    return (f"{found} after {script} {'are' if ' and ' in found else 'is'} the script's own; "
            f"{parser.prog} takes its flags before the script")
