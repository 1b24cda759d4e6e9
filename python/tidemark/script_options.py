"""What every verb that runs a script takes on its command line."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def add_script(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds -m, SCRIPT and ARGS: the last, for ARGS takes all that follows."""
    parser.add_argument("-m", dest="module", action="store_true",
                        help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT", help=what)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS",
                        help="the script's own arguments")


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
