"""A backward is over when autograd's threads have let go of it: then a script's memory is the same in each run."""

from __future__ import annotations

import functools
from typing import Any

import torch.autograd.graph

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def patch_backwards(patches: Patches) -> None:
    run: Any = torch.autograd.graph._engine_run_backward

    @functools.wraps(run)
    def run_to_the_end(*args: Any, **kwargs: Any) -> Any:
        try:
            return run(*args, **kwargs)
        finally:
            library().wait_for_autograd_threads()

    patches.set_wherever_bound(torch.autograd.graph, {run.__name__: run_to_the_end})
