"""Writes a comparison as a Markdown table between two marks of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from comparison_table import KINDS, MIB, summary
from first_answers import FIRST_ANSWERS
from run_list import RUNS, sentence_of

HEAD = "| run | allocated, real | estimate | error | requested | reserved | in use | worst boundary |"
RULE = "|---|--:|--:|--:|--:|--:|--:|--:|"


def marks_of(of_list: str, calibration: str) -> tuple[str, str]:
    """The page has a table for each list, and one more of the runs by rules alone."""
    name = of_list if of_list != RUNS else "rules" if calibration == "none" else "comparison"
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def percent(of: dict[str, Any]) -> str:
    return "" if of["error_percent"] is None else f"{of['error_percent']:+.2f} %"


def boundary(row: dict[str, Any]) -> str:
    worst = row.get("worst_boundary", {})
    return f"{worst['difference'] / MIB:+.1f}" if "difference" in worst else worst.get("differs", "")


def first(row: dict[str, Any]) -> str:
    """The first error of the peak; empty where the first answer is not kept."""
    answer, real = FIRST_ANSWERS.get(row["run"]), row["allocated"]["real"]
    return f" {100 * (answer * MIB - real) / real:+.2f} % |" if answer else ""


def line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"| `{row['run']}` | no estimate | | | | | | |"
    peak = row["allocated"]
    return f"| `{row['run']}` | {peak['real'] / MIB:,.1f} | {peak['estimate'] / MIB:,.1f} | {percent(peak)} | " \
        f"{percent(row['requested'])} | {percent(row['reserved'])} | {percent(row['in_use'])} | {boundary(row)} |" \
        + first(row)


def caption(rows: list[dict[str, Any]], machine: dict[str, Any]) -> str:
    here = ", ".join(sorted({row["torch"] for row in rows if "error" not in row}))
    return f"Real: {machine['gpu']}, driver {machine['driver']}, torch {machine['torch']}, cuDNN " \
        f"{machine['cudnn']}, Python {machine['python']}. Estimates: torch {here}, without a GPU. " \
        "Amounts in MiB; errors, and the worst boundary, are estimate less real."


def markdown(rows: list[dict[str, Any]], machine: dict[str, Any]) -> str:
    """Runs without a real number are left out."""
    known = [row for row in rows if "error" in row or row["allocated"]["real"] is not None]
    has_first = any(row["run"] in FIRST_ANSWERS for row in known)
    head = [HEAD + " first error |", RULE + "--:|"] if has_first else [HEAD, RULE]
    kinds = [f"- {summary(known, kind)}" for kind in KINDS]
    return "\n".join([caption(known, machine), "", *head, *map(line, known), "", *kinds])


def sentences(rows: list[dict[str, Any]]) -> str:
    what = [f"- `{row['run']}`: {sentence_of(row['run'])}" for row in rows]
    return "\n".join(["", "", "What each run is:", "", *what])


def write_between(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replaces what stands between the marks; a page without them is an error."""
    begin, end = marks
    before, found_begin, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise SystemExit(f"{page}: no lines {begin} and {end} to write the table between")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
