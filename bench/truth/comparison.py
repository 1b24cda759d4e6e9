"""One run: what was estimated beside what a real GPU needed."""

from __future__ import annotations

from typing import Any

from boundaries import STEP

TENSORS, WORKSPACES, CONTEXT = "tensors", "library workspaces", "CUDA context"


def beside(real: int | None, estimate: int) -> dict[str, Any]:
    error = None if not real else round(100 * (estimate - real) / real, 3)
    return {"real": real, "estimate": estimate, "error_percent": error}


def boundary_differences(estimate: dict[str, Any], real: dict[str, Any]) -> list[dict[str, Any]]:
    """From the second step on: before, libraries have not taken all of their workspaces yet.

    torch.cuda of a virtual GPU does not count these; they are added.
    """
    workspaces = estimate["budget"].get(WORKSPACES, 0)
    ours, theirs = estimate["boundaries"], real["boundaries"]
    phases = [row[0] for row in theirs]
    if [row[0] for row in ours] != phases:
        raise ValueError("the phases of the estimate are not those of the real run")
    first = phases.index(STEP) + 1 if STEP in phases else 0
    return [{"number": number, "phase": phase, "real": theirs[number][1],
             "difference": ours[number][1] + workspaces - theirs[number][1]}
            for number, phase in enumerate(phases) if number >= first]


def worst_boundary(estimate: dict[str, Any], real: dict[str, Any]) -> dict[str, Any]:
    try:
        return max(boundary_differences(estimate, real), key=lambda row: abs(row["difference"]), default={})
    except ValueError as error:
        return {"differs": str(error)}


def compared(name: str, estimate: dict[str, Any], real: dict[str, Any] | None) -> dict[str, Any]:
    if "error" in estimate:
        return {"run": name, "error": estimate["error"]}
    budget, seen = estimate["budget"], real or {}
    whole = sum(budget.values())
    row = {
        "run": name,
        "allocated": beside(seen.get("peak_allocated"), budget[TENSORS] + budget.get(WORKSPACES, 0)),
        "reserved": beside(seen.get("peak_reserved"), whole - budget.get(CONTEXT, 0)),
        "in_use": beside(seen.get("in_use_at_end"), whole),
        "budget": budget,
    }
    return {**row, "worst_boundary": worst_boundary(estimate, real)} if real else row
