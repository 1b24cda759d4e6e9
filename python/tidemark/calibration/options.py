"""What `tidemark calibrate` can be told."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

from tidemark.script_options import RunParser

EXAMPLES = """\
examples:
  tidemark calibrate train.py                     on the machine with the GPU
  tidemark estimate --calibration gpu.json train.py     then anywhere
  tidemark calibrate --out h200.json a.tape b.tape      calls of estimates saved before

Each distinct call of an operator is made twice on this machine's GPU, and what it takes beyond its
results is written down. A file that is there already is added to, if it is of the same machine.
Exit code: 0 the file was written, 2 it was not.
"""


@dataclass
class CalibrateOptions:
    out: str = ""
    quiet: bool = False
    source: str = ""
    rest: list[str] = field(default_factory=list)

    @property
    def tapes(self) -> list[str]:
        """Empty where a script was named."""
        return [] if self.source.endswith(".py") else [self.source, *self.rest]


def parse_options(arguments: list[str]) -> CalibrateOptions:
    parser = RunParser(
        prog="tidemark calibrate",
        description="Measures on a real GPU what operators take inside, for estimates without one.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", default="calibration.json", metavar="FILE",
                        help="where the calibration goes (default calibration.json)")
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    parser.add_argument("source", metavar="TAPE|SCRIPT.py",
                        help="tapes of estimates, or one script, which is estimated first")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…",
                        help="more tapes, or the script's own arguments")
    return CalibrateOptions(**vars(parser.parse_args(arguments)))
