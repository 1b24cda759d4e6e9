"""Modules in the estimate's text: who owns the peak, and how high each rises by itself."""

from __future__ import annotations

from typing import Any

from tidemark.estimation.sizes import format_bytes

OUTSIDE = "(outside of modules)"
LEAST_SHARE = 0.01  # of the peak, for a row of its own


def owners_lines(device: dict[str, Any], depth: int, width: int) -> list[str]:
    """The peak as a tree of modules, what is below one percent left out."""
    totals: dict[str, int] = {}
    for owner in device["owners"]:
        parts = owner["scope"].split(".") if owner["scope"] else [OUTSIDE]
        for level in range(1, min(len(parts), depth or len(parts)) + 1):
            path = ".".join(parts[:level])
            totals[path] = totals.get(path, 0) + owner["allocated_bytes"]
    if not set(totals) - {OUTSIDE}:
        return []
    least = LEAST_SHARE * device["peak_allocated_bytes"]
    lines = ["", "  who owns it"]
    for path in in_tree_order(totals):
        if totals[path] >= least:
            share = 100 * totals[path] / device["peak_allocated_bytes"]
            lines.append(f"  {format_bytes(totals[path]):>12}  {share:5.1f} %  {indented(path)}"[:width])
    return lines


def modules_part(modules: list[dict[str, Any]], width: int) -> str:
    """Each module's parameters and its peak in each phase; of several devices the highest."""
    phases = [name for name in ("forward", "backward", "recompute")
              if any(peak["phase"] == name for module in modules for peak in module["peaks"])]
    if not phases:
        return ""
    lines = ["peak while a module runs",
             f"  {'parameters':>12}" + "".join(f"{phase:>13}" for phase in phases) + "  module"]
    for module in modules:
        cells = [f"  {format_bytes(module['parameter_bytes']) if module['parameter_bytes'] else '-':>12}"]
        for phase in phases:
            found = [peak["peak_bytes"] for peak in module["peaks"] if peak["phase"] == phase]
            cells.append(f"{format_bytes(max(found)) if found else '-':>13}")
        lines.append(("".join(cells) + "  " + indented(module["module"]))[:width])
    return "\n".join(lines)


def indented(path: str) -> str:
    return "  " * path.count(".") + path.rpartition(".")[2] if path != OUTSIDE else path


def in_tree_order(totals: dict[str, int]) -> list[str]:
    """Parents before children; the larger of two siblings first, of equal ones 2 before 10."""

    def key(path: str) -> tuple[tuple[int, int, str], ...]:
        parts = path.split(".") if path != OUTSIDE else [path]
        paths = (".".join(parts[: level + 1]) for level in range(len(parts)))
        return tuple((-totals[one], int(part) if part.isdigit() else -1, part)
                     for one, part in zip(paths, parts))

    return sorted(totals, key=key)
