"""Modules in a report's text: who owns the peak, and how high each rises by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.reporting.folding import Folded, fold
from tidemark.reporting.sizes import format_bytes

OUTSIDE = "(outside of modules)"
LEAST_SHARE = 0.01  # of the peak, for a row of its own


def owners_lines(device: dict[str, Any], depth: int, width: int) -> list[str]:
    """The peak as a tree of modules, what is below one percent left out."""
    totals: dict[str, int] = {}
    categories: dict[str, Counter[str]] = {}
    for owner in device["owners"]:
        parts = owner["scope"].split(".") if owner["scope"] else [OUTSIDE]
        for level in range(1, min(len(parts), depth or len(parts)) + 1):
            path = ".".join(parts[:level])
            totals[path] = totals.get(path, 0) + owner["allocated_bytes"]
            categories.setdefault(path, Counter()).update(owner["categories"])
    if not set(totals) - {OUTSIDE}:
        return []
    peak = device["peak_allocated_bytes"]
    shown = [path for path in in_tree_order(totals) if totals[path] >= LEAST_SHARE * peak]
    names = max(len(indented(path)) for path in shown)
    lines = ["", "  who owns it"]

    def cells(path: str) -> str:
        return f"  {format_bytes(totals[path]):>12}  {100 * totals[path] / peak:5.1f} %  "

    for one in fold(shown):
        if isinstance(one, Folded):
            lines.append(" " * len(cells(shown[0])) + told(one))
        else:
            line = f"{cells(one)}{indented(one):<{names}}"
            lines.append(with_mixture(line, categories[one], width))
    return lines


def modules_part(modules: list[dict[str, Any]], width: int) -> str:
    """Each module's parameters and its peak in each phase; of several devices the highest."""
    phases = [name for name in ("forward", "backward", "recompute")
              if any(peak["phase"] == name for module in modules for peak in module["peaks"])]
    if not phases:
        return ""
    lines = ["peak while a module runs",
             f"  {'parameters':>12}" + "".join(f"{phase:>13}" for phase in phases) + "  module"]

    def cells(module: dict[str, Any]) -> str:
        parameters = module["parameter_bytes"]
        text = f"  {format_bytes(parameters) if parameters else '-':>12}"
        for phase in phases:
            found = [peak["peak_bytes"] for peak in module["peaks"] if peak["phase"] == phase]
            text += f"{format_bytes(max(found)) if found else '-':>13}"
        return text

    lines += rows(modules, cells, width)
    return "\n".join([*lines, *shares_lines(modules, width)])


def shares_lines(modules: list[dict[str, Any]], width: int) -> list[str]:
    """What each module's highest peak was made of."""
    highest = {module["module"]: max(module["peaks"], key=lambda peak: int(peak["peak_bytes"]))
               for module in modules if module["peaks"]}
    total = sum((Counter(peak["categories"]) for peak in highest.values()), Counter[str]())
    names = [name for name, count in total.most_common() if count >= LEAST_SHARE * total.total()]
    lines = ["", "the highest of these by category, in percent",
             "".join(f"  {name}" for name in names) + "  module"]

    def cells(module: dict[str, Any]) -> str:
        return "".join(share_of(name, highest.get(module["module"])) for name in names)

    return lines + rows(modules, cells, width)


def rows(modules: list[dict[str, Any]], cells: Callable[[dict[str, Any]], str],
         width: int) -> list[str]:
    """A line for each module, long runs of layers folded."""
    by_path = {module["module"]: module for module in modules}
    margin = len(cells(modules[0]))
    return [
        (" " * margin + "  " + told(path) if isinstance(path, Folded)
         else cells(by_path[path]) + "  " + indented(path))[:width]
        for path in fold(list(by_path))
    ]


def told(folded: Folded) -> str:
    """What stands in the column of modules for those that are not shown."""
    depth = folded.parent.count(".") + 1 if folded.parent else 0
    return "  " * depth + f"… {folded.count} more"


def share_of(category: str, peak: dict[str, Any] | None) -> str:
    """A cell as wide as the category's name; a dash where the module never ran."""
    share = "-" if peak is None else (
        f"{100 * peak['categories'].get(category, 0) / max(peak['peak_bytes'], 1):.1f}")
    return f"  {share:>{len(category)}}"


def with_mixture(line: str, categories: Mapping[str, int], width: int) -> str:
    """The line and, as far as there is room, the shares of categories, the largest first."""
    total = sum(categories.values())
    separator = "  "
    for name, count in sorted(categories.items(), key=lambda item: (-item[1], item[0])):
        share = f"{separator}{name} {100 * count / total:.0f} %" if count else ""
        if count < LEAST_SHARE * total or len(line) + len(share) > width:
            break
        line, separator = line + share, ", "
    return line.rstrip()[:width]


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
