"""Runs PyTorch's callers of its memory profile, on PyTorch's classes and then on ours.

    python tests/oracle_profile/run_callers.py FOLDER
"""

import json
import re
import sys
import warnings
from pathlib import Path

import torch
from profile_comparing import profiled
from profile_programs import PROGRAMS
from torch.cuda import _memory_viz

from tidemark.compat import memory_profiler

warnings.simplefilter("ignore", FutureWarning)


def run(profile: torch.profiler.profile, who: str, folder: Path) -> None:
    suffixes = ["json", "json.gz", "raw.json.gz"] + ["html"] * (who == "ours")
    for suffix in suffixes:
        profile.export_memory_timeline(str(folder / f"{who}.{suffix}"), device="cpu")
    plot = _memory_viz.profile_plot(profile)
    (folder / f"{who}.plot").write_text(re.sub(r"\s+", " ", plot))
    assert type(profile._memory_profile()).__module__.startswith(
        "tidemark" if who == "ours" else "torch"
    )
    json.loads((folder / f"{who}.json").read_text())


def main() -> None:
    profile = profiled(PROGRAMS["adam_one_by_one"]())
    run(profile, "theirs", Path(sys.argv[1]))
    memory_profiler.install()
    run(profile, "ours", Path(sys.argv[1]))


if __name__ == "__main__":
    main()
