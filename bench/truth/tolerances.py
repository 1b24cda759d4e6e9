"""How near estimates must come, which runs are known not to, and why."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from comparison_table import MIB

ALLOCATED_PERCENT = 0.5
REQUESTED_PERCENT = 0.1
RESERVED_PERCENT = 3.0
IN_USE_PERCENT = 3.0  # of what the card has in use, less what is free, beside the budget
MEAN_PERCENT = 0.2  # of the allocated peaks of all runs of a list, whichever way each is off
# An allocated peak may be further below the real one only where a diagnostic of the estimate says why. These may
# be a reason; that a number was printed which nobody knows (assumed-value) is none.
SILENTLY_BELOW_PERCENT = 0.25
SAYS_WHY = {"assumed-shape", "calibration", "cuda-graph", "shape-from-cpu", "values-given-up"}


@dataclass(frozen=True)
class Miss:
    """How far a run may be off where that is more than others may, and the cause."""

    cause: str
    allocated_percent: float = ALLOCATED_PERCENT
    requested_percent: float = REQUESTED_PERCENT
    reserved_percent: float = RESERVED_PERCENT
    in_use_percent: float = IN_USE_PERCENT
    boundary_mib: float = 0.0


KNOWN: dict[str, Miss] = {
    "moe_token_choice": Miss(
        "how many tokens choose which expert is a matter of values; other seeds move the real one by 15 MiB, too",
        boundary_mib=8.0),
}
WORDS = {"allocated": "peak of allocated bytes is", "requested": "peak of requested bytes is",
         "reserved": "peak of reserved bytes is", "in_use": "what is in use on the card is"}


def peak_problems(row: dict[str, Any], miss: Miss) -> list[str]:
    allowed = {"allocated": miss.allocated_percent, "requested": miss.requested_percent,
               "reserved": miss.reserved_percent, "in_use": miss.in_use_percent}
    return [f"{WORDS[kind]} {row[kind]['error_percent']:+.2f} % off, {most} % is allowed"
            for kind, most in allowed.items()
            if row[kind]["error_percent"] is not None and abs(row[kind]["error_percent"]) > most]


def silence_problems(row: dict[str, Any]) -> list[str]:
    """No entry excuses this: whoever asks for an estimate does not have our list of misses."""
    error = row["allocated"]["error_percent"]
    if error is None or error >= -SILENTLY_BELOW_PERCENT or SAYS_WHY & set(row["diagnostics"]):
        return []
    return [f"peak of allocated bytes is {-error:.2f} % too low, and no diagnostic says why"]


def boundary_problems(row: dict[str, Any], miss: Miss) -> list[str]:
    if "differs" in row.get("worst_boundary", {}):
        return [row["worst_boundary"]["differs"]]
    return [f"{far['difference'] / MIB:+.1f} MiB after {far['phase']} (boundary {far['number']})"
            for far in row.get("far_boundaries", []) if abs(far["difference"]) > miss.boundary_mib * MIB]


def problems(row: dict[str, Any]) -> list[str]:
    """Why a run is outside of what it is allowed; nothing where it is inside."""
    if "error" in row:
        return [row["error"]]
    miss = KNOWN.get(row["run"], Miss(""))
    return peak_problems(row, miss) + silence_problems(row) + boundary_problems(row, miss)


def mean_problems(rows: list[dict[str, Any]]) -> list[str]:
    errors = [abs(row["allocated"]["error_percent"]) for row in rows
              if "error" not in row and row["allocated"]["error_percent"] is not None]
    mean = statistics.fmean(errors) if errors else 0.0
    return [f"all runs: peaks of allocated bytes are {mean:.2f} % off on average, {MEAN_PERCENT} % is allowed"] \
        if mean > MEAN_PERCENT else []


def is_needed(row: dict[str, Any]) -> bool:
    """Whether a run would be outside without its entry."""
    return bool(peak_problems(row, Miss("")) or boundary_problems(row, Miss("")))


def needless(rows: list[dict[str, Any]]) -> list[str]:
    """Runs whose entry can go."""
    return [row["run"] for row in rows if row["run"] in KNOWN and "error" not in row
            and not is_needed(row)]


def verdict_on(rows: list[dict[str, Any]], is_whole_list: bool) -> str:
    """A line for each problem; empty where all runs are inside. The mean is one of a whole list."""
    lines = [f"{row['run']}: {problem}" for row in rows for problem in problems(row)]
    return "\n".join(lines + (mean_problems(rows) if is_whole_list else []))
