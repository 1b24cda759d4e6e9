"""The estimate as text: will it fit, what eats it, when."""

from __future__ import annotations

from typing import Any

from tidemark.reporting.device_part import device_part, moment, notes, wrapped
from tidemark.reporting.module_tables import modules_part
from tidemark.reporting.sizes import format_bytes


def text_report(facts: dict[str, Any], width: int = 80) -> str:
    parts = [wrapped(headline(facts), width)]
    for device in facts["devices"]:
        parts.append(device_part(device, facts["depth"], width))
    if not facts["devices"]:
        parts.append("No memory was allocated on a GPU.")
    parts.append(modules_part(facts["modules"], width))
    parts.append(wrapped(closing(facts), width))
    return "\n\n".join(part for part in parts if part) + "\n"


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


def closing(facts: dict[str, Any]) -> str:
    lines = [
        f"{facts['steps']} step{'' if facts['steps'] == 1 else 's'}, {facts['ops']} operators in {facts['wall_seconds']:.1f} s, "
        f"torch {facts['torch_version']}"
        + (f", rank {facts['rank']} of {facts['world_size']}" if facts["world_size"] > 1 else "")
    ]
    lines += [f"not seen: {what}" for what in facts["not_seen"]]
    lines += notes(facts["diagnostics"])
    return "\n".join(lines)
