"""What `tidemark estimate` can be told."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

from tidemark.estimation.launchers import module_of, processes_of
from tidemark.gpus import CATALOGUE, DEFAULT_GPU, Gpu, find_gpu
from tidemark.host_memory import parse_size
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
  tidemark estimate train.py --batch-size 32      will it fit on one H100?
  tidemark estimate --gpu l4 train.py             on a smaller one?
  tidemark estimate --gpu all train.py            on which GPU does it fit?
  tidemark estimate --steps 5 --save run.tape train.py
  tidemark estimate --world-size 8 train_ddp.py   as rank 0 of 8
  tidemark estimate --world-size 8,64 train.py    from how many ranks on does it fit?
  tidemark estimate --world-size 64 --rank all train.py    which rank needs most?
  tidemark estimate torchrun --nproc-per-node 8 train_ddp.py
  tidemark estimate -m mypackage.train --lr 1e-4  a module

The script's own output goes to standard error, the report to standard output.
Exit code: 0 it fits or is tight, 1 it does not fit, 2 nobody can tell: the script failed, was
interrupted, or never touched a GPU.
"""


EVERY = "all"
FURTHER_SECONDS = 10.0
GPUS_OF_A_NODE = 8


@dataclass
class EstimateOptions:
    script: str = ""
    module: bool = False
    arguments: list[str] = field(default_factory=list)
    gpu: Gpu = CATALOGUE[DEFAULT_GPU]
    gpu_name: str = DEFAULT_GPU  # as it was said
    gpus: int = 1
    gpus_were_said: bool = False
    world_size: int = 1
    rank: int = 0
    is_rank: bool = False  # it was said: the script gets the variables of a launcher
    steps: int = 2
    further: float = 0.0  # seconds
    save: str = ""
    json: bool = False
    quiet: bool = False
    on_value: str = "plausible"
    oom: str = "continue"
    host_memory: int | None = None  # None: half of what is free
    cuda_choices: bool = True
    calibration: str = ""  # a file, "none", or empty for the one that is shipped
    top: int = 10
    depth: int = 3
    detail: str = "brief"  # of the text
    every_gpu: bool = False
    every_rank: bool = False
    world_sizes: list[int] = field(default_factory=list)  # where several were said

    @property
    def is_table(self) -> bool:
        """Several runs, one verdict each."""
        return self.every_gpu or self.every_rank or bool(self.world_sizes)


def gpus_for(ranks: int) -> int:
    """Those of one node."""
    return min(ranks, GPUS_OF_A_NODE)


def wanted_steps(steps: int | None) -> int:
    """Two where nothing is said: the second has what the first step of an optimizer made."""
    return 2 if steps is None else steps


def further_seconds(steps: int | None, further: float | None) -> float:
    """Who names the steps wants no more than these."""
    if further is not None:
        return further
    return FURTHER_SECONDS if steps is None else 0.0


def _seconds(text: str) -> float:
    value = float(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _rank(text: str) -> int | None:
    """None is every kind of rank."""
    return None if text == EVERY else count(text)


def _positives(text: str) -> list[int]:
    return [_positive(one) for one in text.split(",")]


def _gpu(text: str) -> Gpu | None:
    """None is every GPU."""
    if text == EVERY:
        return None
    try:
        return find_gpu(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def make_parser() -> argparse.ArgumentParser:
    parser = RunParser(
        prog="tidemark estimate",
        description="Runs a PyTorch training script on virtual GPUs: real shapes, no GPU, no memory.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--gpu", default=DEFAULT_GPU, dest="gpu_name", metavar="NAME",
                        help="h200, b200, a100-40gb, l40s, t4, rtx4090 and fifty more (see docs/gpus.md; "
                             "an unknown name lists them), an amount of memory (24GB, "
                             "rtx4090:48GB), a .json file, or all for a table of GPUs "
                             f"(default {DEFAULT_GPU})")
    parser.add_argument("--gpus", type=_positive, default=None, metavar="N",
                        help="GPUs the script sees (default 1; the ranks of a node, at most 8, where "
                             "there are several)")
    parser.add_argument("--world-size", type=_positives, default=None, metavar="N",
                        help="ranks of the distributed job, as torchrun would start it; nothing is sent; "
                             "8,64,1024 gives a table")
    parser.add_argument("--rank", type=_rank, default=0, metavar="R",
                        help="which rank to be, or all for one of each kind")
    parser.add_argument("--steps", type=count, default=None, metavar="K",
                        help="end after K optimizer steps, 0 = at the script's end (default: after 2, "
                             f"and up to {FURTHER_SECONDS:.0f} seconds more)")
    parser.add_argument("--further", type=_seconds, default=None, metavar="SECONDS",
                        help="after the steps let the script go on for so long, to its end if that "
                             "comes before")
    parser.add_argument("--save", default="", metavar="FILE.tape",
                        help="write the tape as it goes; FILE.txt is its text form, at the end")
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    parser.add_argument("--on-value", choices=("plausible", "zero", "bound", "error"),
                        default="plausible", help="what an unknown value is taken to be")
    parser.add_argument("--oom", choices=("continue", "raise"), default="continue",
                        help="raise: as the real device would, where memory runs out")
    parser.add_argument("--host-memory", type=_size, default=None, metavar="SIZE",
                        help="what large CPU tensors may take of this machine's memory when they "
                        "are read, as 8GiB (default: half of what is free)")
    parser.add_argument("--calibration", default="", metavar="FILE",
                        help="what operators take inside, measured by `tidemark calibrate`; none: by "
                             "rules alone (default: what was measured on an H200)")
    parser.add_argument("--no-cuda-choices", dest="cuda_choices", action="store_false",
                        help="take the kernels a CPU build takes (to compare with PyTorch's tools)")
    parser.add_argument("--top", type=count, default=10, metavar="N",
                        help="how many of the largest storages to list (default 10)")
    add_report(parser)
    add_script(parser, "the training script")
    return parser


def parse_options(arguments: list[str]) -> EstimateOptions:
    parser = make_parser()
    parsed = parser.parse_args(arguments)
    is_rank = parsed.world_size is not None
    every_rank = parsed.rank is None
    parsed.rank = parsed.rank or 0
    parsed.world_sizes = parsed.world_size or [1]
    parsed.world_size = parsed.world_sizes[0] if is_rank else None
    if is_rank and parsed.rank >= min(parsed.world_sizes):
        parser.error(f"--rank {parsed.rank} is not below --world-size {min(parsed.world_sizes)}")
    if every_rank and not is_rank:
        parser.error("--rank all needs --world-size N")
    if module := None if parsed.module else module_of(parsed.script):
        parsed.script, parsed.module = module, True
    processes = processes_of(parsed.script, parsed.arguments) if parsed.module else 1
    parsed.gpus_were_said = parsed.gpus is not None
    parsed.gpus = parsed.gpus or gpus_for(parsed.world_size or processes)
    parsed.world_size = parsed.world_size or 1
    if note := note_on_flags(parser, parsed.script, parsed.arguments):
        print(f"tidemark: note: {note}", file=sys.stderr)
    try:
        gpu = _gpu(parsed.gpu_name)
    except argparse.ArgumentTypeError as error:
        parser.error(f"argument --gpu: {error}")
    every_gpu = gpu is None
    if every_gpu and parsed.save:
        parser.error("--save keeps the tape of one run, and --gpu all makes several")
    if every_gpu and (every_rank or len(parsed.world_sizes) > 1):
        parser.error("--gpu all is one table, and --rank all or several --world-size another")
    parsed.gpu = gpu or CATALOGUE[DEFAULT_GPU]
    if len(parsed.world_sizes) == 1:
        parsed.world_sizes = []
    parsed.further = further_seconds(parsed.steps, parsed.further)
    parsed.steps = wanted_steps(parsed.steps)
    return EstimateOptions(**take_report(parsed), every_gpu=every_gpu, every_rank=every_rank,
                           is_rank=is_rank)
