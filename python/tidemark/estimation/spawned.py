"""A process that multiprocessing has spawned for an estimated script."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

from tidemark.estimation.children import OPTIONS
from tidemark.estimation.options import EstimateOptions


def main(folder: str, name: str, **handles: Any) -> None:
    """In place of multiprocessing's own spawn_main, which is told these handles."""
    from multiprocessing.spawn import spawn_main

    from tidemark.estimation.processes import run_process

    options: EstimateOptions = pickle.loads((Path(folder) / OPTIONS).read_bytes())
    sys.exit(run_process(name, lambda: spawn_main(**handles), options, Path(folder)))
