"""Writes the comparison as a Markdown table between two marks of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from comparison_table import KINDS, MIB, summary
from run_list import sentence_of

BEGIN, END = "<!-- comparison: begin -->", "<!-- comparison: end -->"
HEAD = ("| run | allocated, real | estimate | error | requested | reserved | in use | worst boundary |",
        "|---|--:|--:|--:|--:|--:|--:|--:|")


def percent(of: dict[str, Any]) -> str:
    return "" if of["error_percent"] is None else f"{of['error_percent']:+.2f} %"


def boundary(row: dict[str, Any]) -> str:
    worst = row.get("worst_boundary", {})
    return f"{worst['difference'] / MIB:+.1f}" if "difference" in worst else worst.get("differs", "")


def line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"| `{row['run']}` | no estimate | | | | | | |"
    peak = row["allocated"]
    return f"| `{row['run']}` | {peak['real'] / MIB:,.1f} | {peak['estimate'] / MIB:,.1f} | {percent(peak)} | " \
        f"{percent(row['requested'])} | {percent(row['reserved'])} | {percent(row['in_use'])} | {boundary(row)} |"


def caption(rows: list[dict[str, Any]], machine: dict[str, Any]) -> str:
    here = ", ".join(sorted({row["torch"] for row in rows if "error" not in row}))
    return f"Real: {machine['gpu']}, driver {machine['driver']}, torch {machine['torch']}, cuDNN " \
        f"{machine['cudnn']}, Python {machine['python']}. Estimates: torch {here}, without a GPU. " \
        "Amounts in MiB; the last four columns are estimate less real."


def markdown(rows: list[dict[str, Any]], machine: dict[str, Any]) -> str:
    """Runs without a real number are left out."""
    known = [row for row in rows if "error" in row or row["allocated"]["real"] is not None]
    kinds = [f"- {summary(known, kind)}" for kind in KINDS]
    what = [f"- `{row['run']}`: {sentence_of(row['run'])}" for row in known]
    return "\n".join([caption(known, machine), "", *HEAD, *map(line, known), "", *kinds, "",
                      "What each run is:", "", *what])


def write_between(page: Path, text: str) -> None:
    """Replaces what stands between the marks; a page without them is an error."""
    before, found_begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, found_end, after = rest.partition(END)
    if not (found_begin and found_end):
        raise SystemExit(f"{page}: no lines {BEGIN} and {END} to write the table between")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
