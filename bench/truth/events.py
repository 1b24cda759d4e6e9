"""Runs a training script and writes every event of its GPU's allocator, and in which operator it was.

    python bench/truth/events.py SCRIPT OUT.json.gz

On a real GPU, and around the script of an estimate on a virtual one: where both differ is why reserved bytes
do. The rows are ["(", operator, arguments, thread], [")"] and ["m", address, bytes]; what is inside of an
operator stands between its brackets. A real GPU adds the allocator's own trace, with requested bytes.
"""

from __future__ import annotations

import gzip
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from boundaries import Boundaries, machine, totals

MOST_EVENTS = 10**7


def described(value: Any) -> Any:
    """A tensor as its type, sizes, strides and address; a list of them; a number; or nothing."""
    if isinstance(value, list):
        return [described(one) for one in value]
    if hasattr(value, "sizes"):
        return [str(value.dtype).removeprefix("torch."), list(value.sizes), list(value.strides),
                value.storage_data_ptr]
    return value if isinstance(value, int | float | bool | str) else None


def add_rows(events: list[Any], rows: list[Any]) -> None:
    for event in sorted(events, key=lambda one: one.start_time_ns):
        kind, fields = event.typed
        if "Allocation" in str(kind):
            if fields.device.type == "cuda":
                rows.append(["m", fields.ptr, fields.alloc_size])
            continue
        inputs = getattr(fields, "inputs", None)
        rows.append(["(", event.name, [described(one) for one in inputs or []], event.start_tid])
        add_rows(event.children, rows)
        rows.append([")"])


def recorded(script: Path) -> dict[str, Any]:
    import torch

    is_virtual = "tidemark" in sys.modules
    if not is_virtual:
        torch.cuda.memory._record_memory_history(context=None, max_entries=MOST_EVENTS)
    boundaries = Boundaries()
    boundaries.hear()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True,
                                record_shapes=True) as profiler:
        runpy.run_path(str(script), run_name="__main__")
    told = {"machine": machine(), **totals(), "boundaries": boundaries.rows, "rows": [], "trace": []}
    add_rows(profiler.profiler.kineto_results.experimental_event_tree(), told["rows"])
    if not is_virtual:
        told["trace"] = [[one["action"], one["addr"], one["size"], one["stream"]]
                         for one in torch.cuda.memory._snapshot()["device_traces"][0]]
    return told


def main() -> None:
    script, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    sys.argv = [str(script)]
    sys.path[0] = str(script.parent)
    told = recorded(script)
    with gzip.open(out, "wt", compresslevel=3) as file:
        json.dump(told, file)
    print(f"{script.stem}: {len(told['rows'])} rows, {len(told['trace'])} events of the allocator", flush=True)


if __name__ == "__main__":
    main()
