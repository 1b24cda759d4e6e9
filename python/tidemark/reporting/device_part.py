"""One device of a report as text: the peak, what it is made of, who owns it, the largest storages."""

from __future__ import annotations

import textwrap
from typing import Any

from tidemark.reporting.module_tables import owners_lines
from tidemark.reporting.sizes import format_bytes

BAR = 24


def device_part(device: dict[str, Any], depth: int, width: int) -> str:
    peak = format_bytes(device["peak_allocated_bytes"])
    lines = [wrapped(f"{device['device']}  peak {peak} at {moment(device['at'])}", width), ""]
    total = max(device["peak_allocated_bytes"], 1)
    for name, count in sorted(device["categories"].items(), key=lambda item: -item[1]):
        bar = "█" * max(round(BAR * count / total), 1)
        lines.append(f"  {name:<18} {format_bytes(count):>12}  {100 * count / total:5.1f} %  {bar}")
    lines += owners_lines(device, depth, width)
    if device["largest"]:
        lines += ["", f"  largest of {device['alive_count']} storages alive then"]
        lines += [storage_line(one, width) for one in device["largest"]]
    return "\n".join(lines)


def storage_line(one: dict[str, Any], width: int) -> str:
    born = one["born"]
    start = f"  {format_bytes(one['allocated_bytes']):>12}  {one['category']:<14}  "
    op, source = born.get("op") or born.get("scope") or moment(born), short_source(born.get("source"))
    room = width - len(start) - 2
    if len(op) + len(source) > room:  # each gets at least half
        source = "…" + source[-(room - min(len(op), room // 2) - 1) :] if len(source) > room // 2 else source
        op = shortened(op, room - len(source))
    return f"{start}{op}  {source}".rstrip()


def moment(at: dict[str, Any]) -> str:
    step = f"step {at['step']}" if at["step"] else "the set-up"
    words = [f"{step}, {at['phase']}" if at["phase"] != "other" else step]
    if at.get("op"):
        words.append(f"in {at['op']}")
    if at.get("scope"):
        words.append(f"of {at['scope']}")
    if at.get("source"):
        words.append(f"({short_source(at['source'])})")
    return " ".join(words)


def wrapped(text: str, width: int) -> str:
    """Each line of the text in as many as it needs, the later ones set in."""
    lines = [textwrap.fill(line, width, subsequent_indent="  ") for line in text.split("\n")]
    return "\n".join(lines)


def shortened(text: str, width: int) -> str:
    """At most so wide; what is left out of the middle is one dot."""
    if len(text) <= width:
        return text
    kept = max(width - 1, 0)
    return text[: kept - kept // 2] + "…" + text[len(text) - kept // 2 :]


def short_source(source: str | None) -> str:
    """A line of an installed package by the package's name; others as they are."""
    for folder in ("site-packages/", "dist-packages/"):
        _, found, inside = (source or "").rpartition(folder)
        if found:
            return inside
    return source or ""


def notes(diagnostics: list[dict[str, Any]]) -> list[str]:
    """What was odd, a line each, with its first place if that is known."""
    lines = []
    for one in diagnostics:
        times = f" ({one['count']} times)" if one["count"] > 1 else ""
        where = short_source(one["where"])
        lines.append(f"{one['severity']}: {one['message']}{times}" + (f", first at {where}" if where else ""))
    return lines
