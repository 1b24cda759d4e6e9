"""Sizes as users write them, and what a machine has left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.host_memory import default_budget, free_bytes, parse_size

GIB = 1 << 30


@pytest.mark.parametrize(("text", "size"), [
    ("8GiB", 8 * GIB), ("8G", 8 * GIB), ("500MB", 500_000_000), ("1.5 KiB", 1536), ("1000", 1000),
    ("0", 0), ("12B", 12), ("1TB", 10**12),
])
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "8 bits", "-1", "8iB", "1e9", "8GiBs"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no size"):
        parse_size(text)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_system_has_left_what_it_says(tmp_path: Path) -> None:
    root = write(tmp_path, {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:   4194304 kB\n"})
    assert free_bytes(root) == 4 * GIB and default_budget(root) == 2 * GIB
    assert free_bytes(tmp_path / "nothing") == 0


def test_a_control_group_may_leave_less(tmp_path: Path) -> None:
    root = write(tmp_path, {
        "proc/meminfo": "MemAvailable: 4194304 kB\n",
        "proc/self/cgroup": "0::/user/job\n",
        "sys/fs/cgroup/user/job/memory.max": "max\n",
        "sys/fs/cgroup/user/job/memory.current": "1\n",
        "sys/fs/cgroup/user/memory.max": str(3 * GIB),
        "sys/fs/cgroup/user/memory.current": str(GIB),
    })
    assert free_bytes(root) == 2 * GIB
