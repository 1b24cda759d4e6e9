"""How near estimates must come, which runs are known not to, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from comparison_table import MIB

ALLOCATED_PERCENT = 0.5
REQUESTED_PERCENT = 0.1
RESERVED_PERCENT = 3.0


@dataclass(frozen=True)
class Miss:
    """How far a run may be off where that is more than others may, and the cause."""

    cause: str
    allocated_percent: float = ALLOCATED_PERCENT
    requested_percent: float = REQUESTED_PERCENT
    reserved_percent: float = RESERVED_PERCENT
    boundary_mib: float = 0.0


KNOWN: dict[str, Miss] = {
    "speech_ctc": Miss(
        "which of several free blocks the allocator takes also goes by addresses, which nobody knows before",
        boundary_mib=2.5),
    "moe_token_choice": Miss(
        "how many tokens choose which expert is a matter of values; other seeds move the real one by 15 MiB, too",
        boundary_mib=8.0),
}


def peak_problems(row: dict[str, Any], miss: Miss) -> list[str]:
    allowed = {"allocated": miss.allocated_percent, "requested": miss.requested_percent,
               "reserved": miss.reserved_percent}
    return [f"peak of {kind} bytes is {row[kind]['error_percent']:+.2f} % off, {most} % is allowed"
            for kind, most in allowed.items()
            if row[kind]["error_percent"] is not None and abs(row[kind]["error_percent"]) > most]


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
    return peak_problems(row, miss) + boundary_problems(row, miss)


def is_needed(row: dict[str, Any]) -> bool:
    """Whether a run would be outside without its entry."""
    return bool(peak_problems(row, Miss("")) or boundary_problems(row, Miss("")))


def needless(rows: list[dict[str, Any]]) -> list[str]:
    """Runs whose entry can go."""
    return [row["run"] for row in rows if row["run"] in KNOWN and "error" not in row
            and not is_needed(row)]


def verdict_on(rows: list[dict[str, Any]]) -> str:
    """A line for each problem; empty where all runs are inside."""
    return "\n".join(f"{row['run']}: {problem}" for row in rows for problem in problems(row))
