"""What `tidemark record` can be told."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

from tidemark.script_options import (
    RunParser,
    add_report,
    add_script,
    count,
    note_on_flags,
    take_report,
)

EXAMPLES = """\
examples:
  tidemark record train.py --batch-size 32        where did the memory go?
  tidemark record --steps 3 --save run.tape train.py
  tidemark record --source train.py               which lines own it?
  tidemark record --depth 2 -m mypackage.train

The script runs as it is; its own output goes to standard error, the report to standard output.
The exit code is the script's own; 2 when it could not be run.
"""


@dataclass
class RecordOptions:
    script: str = ""
    module: bool = False
    arguments: list[str] = field(default_factory=list)
    steps: int = 0
    save: str = ""
    json: bool = False
    depth: int = 3
    detail: str = "brief"  # of the text
    operators: bool = False
    source: bool = False


def parse_options(arguments: list[str]) -> RecordOptions:
    parser = RunParser(
        prog="tidemark record",
        description="Runs a PyTorch script as it is and records where its memory goes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--steps", type=count, default=0, metavar="K",
                        help="end after K optimizer steps, 0 = at the script's end (default)")
    parser.add_argument("--save", default="", metavar="FILE.tape",
                        help="keep the tape; FILE.txt is its text form; under torchrun each rank "
                             "has its own, FILE.rank0.tape and so on")
    add_report(parser)
    parser.add_argument("--operators", action="store_true",
                        help="tell what lives only inside operators (Workspace) from their results")
    parser.add_argument("--source", action="store_true",
                        help="say which line of source and which operator makes each storage, with "
                             "type and shape; costs more per operator, and implies --operators")
    add_script(parser, "the script")
    parsed = parser.parse_args(arguments)
    if note := note_on_flags(parser, parsed.script, parsed.arguments):
        print(f"tidemark: note: {note}", file=sys.stderr)
    return RecordOptions(**take_report(parsed))
