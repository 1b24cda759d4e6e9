"""One run: what was estimated beside what a real GPU needed."""

from __future__ import annotations

from typing import Any

from boundaries import STEP

CONTEXT = "CUDA context"
BOUNDARY_SHARE, BOUNDARY_BYTES = 0.001, 2 * 2**20


def beside(real: int | None, estimate: int) -> dict[str, Any]:
    error = None if not real else round(100 * (estimate - real) / real, 3)
    return {"real": real, "estimate": estimate, "error_percent": error}


def boundary_differences(estimate: dict[str, Any], real: dict[str, Any]) -> list[dict[str, Any]]:
    """From the second step on: before, libraries have not taken all of their workspaces yet."""
    ours, theirs = estimate["boundaries"], real["boundaries"]
    phases = [row[0] for row in theirs]
    if [row[0] for row in ours] != phases:
        raise ValueError("the phases of the estimate are not those of the real run")
    first = phases.index(STEP) + 1 if STEP in phases else 0
    return [{"number": number, "phase": phase, "real": theirs[number][1],
             "difference": ours[number][1] - theirs[number][1]}
            for number, phase in enumerate(phases) if number >= first]


def is_far(boundary: dict[str, Any]) -> bool:
    return abs(boundary["difference"]) > max(BOUNDARY_SHARE * boundary["real"], BOUNDARY_BYTES)


def boundary_facts(estimate: dict[str, Any], real: dict[str, Any]) -> dict[str, Any]:
    """The boundary that differs most, and all that differ by more than they may."""
    try:
        differences = boundary_differences(estimate, real)
    except ValueError as error:
        return {"boundaries": [], "worst_boundary": {"differs": str(error)}, "far_boundaries": []}
    return {"boundaries": [[row["phase"], row["real"], row["difference"]] for row in differences],
            "worst_boundary": max(differences, key=lambda row: abs(row["difference"]), default={}),
            "far_boundaries": [row for row in differences if is_far(row)]}


def compared(name: str, estimate: dict[str, Any], real: dict[str, Any] | None) -> dict[str, Any]:
    if "error" in estimate:
        return {"run": name, "error": estimate["error"]}
    budget, seen = estimate["budget"], real or {}
    whole = sum(budget.values())
    row = {
        "run": name,
        "torch": estimate["machine"]["torch"],
        "allocated": beside(seen.get("peak_allocated"), estimate["peak_allocated"]),
        "requested": beside(seen.get("peak_requested"), estimate["peak_requested"]),
        "reserved": beside(seen.get("peak_reserved"), whole - budget.get(CONTEXT, 0)),
        "in_use": beside(seen.get("in_use_at_end"), whole),
        "budget": budget,
        "diagnostics": estimate["diagnostics"],
    }
    return {**row, **boundary_facts(estimate, real)} if real else row
