"""Comparisons of runs as a table, and what can be said of all of them."""

from __future__ import annotations

import statistics
from typing import Any

MIB = 2**20
KINDS = ("allocated", "requested", "reserved", "in_use")
HEAD = f"{'run':28}" + "".join(f"{kind.replace('_', ' ') + ' MiB':>14}{'estimate':>10}{'error %':>9}"
                               for kind in KINDS) + "  worst boundary MiB"


def cells(of: dict[str, Any]) -> str:
    real = "" if of["real"] is None else f"{of['real'] / MIB:.1f}"
    error = "" if of["error_percent"] is None else f"{of['error_percent']:+.2f}"
    return f"{real:>14}{of['estimate'] / MIB:>10.1f}{error:>9}"


def boundary(worst: dict[str, Any]) -> str:
    if "difference" not in worst:
        return worst.get("differs", "")
    return f"{worst['difference'] / MIB:+.1f} after {worst['phase']} (boundary {worst['number']})"


def line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['run']:28}FAILED  {row['error']}"
    return f"{row['run']:28}" + "".join(cells(row[kind]) for kind in KINDS) + \
        f"  {boundary(row.get('worst_boundary', {}))}"


def summary(rows: list[dict[str, Any]], kind: str) -> str:
    errors = [abs(row[kind]["error_percent"]) for row in rows
              if "error" not in row and row[kind]["error_percent"] is not None]
    if not errors:
        return f"{kind.replace('_', ' ')}: nothing to compare with"
    near = sum(error <= 0.5 for error in errors)
    return f"{kind.replace('_', ' ')}: {len(errors)} runs, median error {statistics.median(errors):.2f} %, " \
        f"worst {max(errors):.2f} %, {near} within 0.5 %"


def table(rows: list[dict[str, Any]]) -> str:
    return "\n".join([HEAD, *map(line, rows), "", *(summary(rows, kind) for kind in KINDS)])
