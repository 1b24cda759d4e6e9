"""The estimate as text: will it fit, what eats it, when."""

from __future__ import annotations

import textwrap
from typing import Any

from tidemark.estimation.module_tables import modules_part, owners_lines
from tidemark.estimation.sizes import format_bytes

BAR = 24


def text_report(facts: dict[str, Any], width: int = 80) -> str:
    parts = [wrapped(headline(facts), width)]
    for device in facts["devices"]:
        parts.append(device_part(device, facts["depth"], width))
    if not facts["devices"]:
        parts.append("No memory was allocated on a GPU.")
    parts.append(modules_part(facts["modules"], width))
    parts.append(wrapped(closing(facts), width))
    return "\n\n".join(part for part in parts if part) + "\n"


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


def headline(facts: dict[str, Any]) -> str:
    gpu, capacity = facts["gpu"]["name"], facts["gpu"]["memory_bytes"]
    peak = max((d["peak_allocated_bytes"] for d in facts["devices"]), default=0)
    if peak <= capacity:
        return (
            f"Fits on {gpu}: peak {format_bytes(peak)} of {format_bytes(capacity)}, "
            f"{format_bytes(capacity - peak)} left."
        )
    text = (
        f"Does not fit on {gpu}: peak {format_bytes(peak)} of {format_bytes(capacity)}, "
        f"{format_bytes(peak - capacity)} too much."
    )
    first = facts["out_of_memory_at"]
    if first:
        text += (
            f"\nIt would first fail at {moment(first)}, asking for "
            f"{format_bytes(first['wanted_bytes'])} with {format_bytes(first['allocated_bytes'])} in use."
        )
    return text


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
    op, source = born.get("op") or "?", short_source(born.get("source"))
    room = width - len(start) - 2
    if len(op) + len(source) > room:  # each gets at least half
        source = "…" + source[-(room - min(len(op), room // 2) - 1) :] if len(source) > room // 2 else source
        op = shortened(op, room - len(source))
    return f"{start}{op}  {source}".rstrip()


def closing(facts: dict[str, Any]) -> str:
    lines = [
        f"{facts['steps']} step{'' if facts['steps'] == 1 else 's'}, {facts['ops']} operators in {facts['wall_seconds']:.1f} s, "
        f"torch {facts['torch_version']}"
        + (f", rank {facts['rank']} of {facts['world_size']}" if facts["world_size"] > 1 else "")
    ]
    lines += [f"not seen: {what}" for what in facts["not_seen"]]
    for note in facts["diagnostics"]:
        times = f" ({note['count']} times)" if note["count"] > 1 else ""
        where = short_source(note["where"])
        lines.append(f"{note['severity']}: {note['message']}{times}, first at {where}")
    return "\n".join(lines)
