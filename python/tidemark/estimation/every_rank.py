"""`--rank all` and `--world-size 8,64`: a run for each kind of rank, and for each size of the job.

Ranks are alike where they hold shards of the same sizes; which are is found by running them, since each
run names those that are like it. Rank 0 is tried beside one that is like it: programs have work for it
alone.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tidemark
from tidemark.estimation.options import EstimateOptions, gpus_for
from tidemark.estimation.rank_classes import ranks_in
from tidemark.estimation.runs_apart import run_apart, tell_progress
from tidemark.own_folder import OwnFolder


@dataclass
class SeveralRuns:
    """One verdict for each run, and the report of the one that needs most."""

    verdicts: tidemark.VerdictsAnswer
    worst: tidemark.Overview

    def to_text(self, **style: Any) -> str:
        """The report, with a line that says whose it is."""
        run = self.worst.run
        return (f"Rank {run.rank} of {run.world_size} needs most:\n\n" + self.worst.to_text(**style))


def estimate_every_rank(options: EstimateOptions) -> SeveralRuns:
    """Raises RuntimeError where a run leaves no tape. `--save` keeps the tape of the worst."""
    with OwnFolder() as folder:
        tapes: list[tidemark.Tape] = []
        files: list[Path] = []
        for world_size in options.world_sizes or [options.world_size]:
            ranks = [options.rank]
            for rank in ranks:  # grows as kinds of ranks are found
                tell_progress(options, f"rank {rank} of {world_size}")
                files.append(folder / f"{world_size}.{rank}.tape")
                tape = run_apart(options, files[-1], world_size=world_size, rank=rank, is_rank=True,
                                 gpus=options.gpus if options.gpus_were_said else gpus_for(world_size))
                tapes.append(tape)
                if options.every_rank:
                    ranks.extend(unseen(tape, ranks, world_size))
        verdicts = [tape.verdict() for tape in tapes]
        needs = [verdict.tensor_bytes for verdict in verdicts]
        worst = needs.index(max(needs))
        if options.save:
            shutil.copyfile(files[worst], options.save)
        return SeveralRuns(tidemark.VerdictsAnswer(verdicts),
                           tapes[worst].report(top=options.top, depth=options.depth))


def unseen(tape: tidemark.Tape, seen: list[int], world_size: int) -> list[int]:
    """Ranks to run as well: the first of each kind that this run knows of and nobody has stood for."""
    kinds = [ranks_in(words) for words in tape.meta.get("run.rank_classes", "").split("; ") if words]
    if not kinds:  # nothing is sharded: any other rank is as good as the next
        kinds = [list(range(world_size))]
    wanted = []
    for ranks in kinds:
        others = [rank for rank in ranks if rank != 0]
        if others and not any(rank in seen for rank in others):
            wanted.append(others[0])
    return wanted
