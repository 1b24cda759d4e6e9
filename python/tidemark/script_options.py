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
