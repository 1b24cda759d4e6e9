"""Runs a training script and tells what the allocator holds at each boundary of its phases.

    python bench/truth/boundaries.py SCRIPT

The same file stands around a script on a real GPU (measure.py) and on a virtual one (compare.py). The
last line that it prints is MARK and a JSON object; bytes are those that torch.cuda tells.
"""

from __future__ import annotations

import functools
import json
import platform
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

MARK = "TRUTH "
FORWARD, BACKWARD, STEP, ZERO = "forward", "backward", "step", "zero"


def told_in(text: str) -> dict[str, Any]:
    """The object in what a process printed."""
    lines = [line for line in text.splitlines() if line.startswith(MARK)]
    if not lines:
        raise ValueError("the script did not come to its end")
    return json.loads(lines[-1].removeprefix(MARK))


class Boundaries:
    """Rows of phase, allocated and reserved bytes, in the order in which phases end."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, int]] = []

    def note(self, phase: str) -> None:
        import torch

        self.rows.append((phase, torch.cuda.memory_allocated(), torch.cuda.memory_reserved()))

    def around(self, method: Callable[..., Any], before: str | None, after: str) -> Callable[..., Any]:
        @functools.wraps(method)
        def noting(*args: Any, **kwargs: Any) -> Any:
            if before is not None:
                self.note(before)
            result = method(*args, **kwargs)
            self.note(after)
            return result

        return noting

    def hear(self) -> None:
        import torch
        from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

        torch.Tensor.backward = self.around(torch.Tensor.backward, FORWARD, BACKWARD)
        register_optimizer_step_post_hook(lambda optimizer, args, kwargs: self.note(STEP))
        for owner in (Optimizer, torch.nn.Module):
            owner.zero_grad = self.around(owner.zero_grad, None, ZERO)


def machine() -> dict[str, Any]:
    import torch

    return {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(), "python": platform.python_version()}


def totals() -> dict[str, int]:
    """At the script's end. The context is what the device has in use and the allocator does not hold."""
    import torch

    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    stats = torch.cuda.memory_stats()
    return {
        "peak_allocated": torch.cuda.max_memory_allocated(),
        "peak_reserved": torch.cuda.max_memory_reserved(),
        "peak_requested": stats["requested_bytes.all.peak"],
        "retries": stats["num_alloc_retries"],
        "in_use_at_end": total - free,
        "context": total - free - torch.cuda.memory_reserved(),
    }


def main() -> None:
    script = Path(sys.argv[1]).resolve()
    sys.argv = [str(script)]
    sys.path[0] = str(script.parent)
    boundaries = Boundaries()
    boundaries.hear()
    runpy.run_path(str(script), run_name="__main__")
    told = {"machine": machine(), **totals(), "boundaries": boundaries.rows}
    print(f"\n{MARK}{json.dumps(told)}", flush=True)


if __name__ == "__main__":
    main()
