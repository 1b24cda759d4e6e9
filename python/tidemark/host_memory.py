"""How much of this machine's memory a run may take: what the user says, or half of what is free."""

from __future__ import annotations

import re
from pathlib import Path

_UNITS = {"": 1, "B": 1, **{
    prefix + rest: 1024**power if "i" in rest or rest == "" else 1000**power
    for power, prefix in enumerate("KMGT", start=1) for rest in ("", "B", "iB")
}}


def parse_size(text: str) -> int:
    """Reads 8GiB, 500MB, 1.5G or 1000; K, M, G and T alone are powers of 1024."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", text)
    if match is None or match[2] not in _UNITS:
        raise ValueError(f"{text!r} is no size (write 8GiB, 500MB or a number of bytes)")
    return int(float(match[1]) * _UNITS[match[2]])


def default_budget(root: Path = Path("/")) -> int:
    """Half of what is free."""
    return free_bytes(root) // 2


def free_bytes(root: Path = Path("/")) -> int:
    """What the system has left, or what this process's control groups leave it, if that is less."""
    return min([_available(root), *_left_in_groups(root)])


def _available(root: Path) -> int:
    try:
        facts = (root / "proc/meminfo").read_text()
    except OSError:
        return 0
    match = re.search(r"^MemAvailable:\s*(\d+) kB", facts, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def _left_in_groups(root: Path) -> list[int]:
    groups = root / "sys/fs/cgroup"
    names = [("memory.max", "memory.current"),
             ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")]
    left = []
    for folder in (groups, *_own_groups(root, groups)):
        for limit, usage in names:
            try:
                most = int((folder / limit).read_text())  # "max" where there is no limit
                left.append(max(most - int((folder / usage).read_text()), 0))
            except (OSError, ValueError):
                continue
    return left


def _own_groups(root: Path, groups: Path) -> list[Path]:
    """The process's own group, and those around it."""
    try:
        line = (root / "proc/self/cgroup").read_text()
    except OSError:
        return []
    match = re.search(r"^0::/(.+)$", line, re.MULTILINE)
    if match is None:
        return []
    own = groups / match[1]
    return [own, *(parent for parent in own.parents if groups in parent.parents)]
