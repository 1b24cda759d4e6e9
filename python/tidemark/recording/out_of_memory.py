"""What was alive when memory ran out: said without being asked."""

from __future__ import annotations

import re
from typing import Any, TextIO

_SIZES = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def told_by_gpu(message: str) -> tuple[int, str]:
    """The bytes and the device in the message of CUDA's allocator; 0 and "the GPU" if it has none."""
    wanted = re.search(r"allocate ([0-9.]+) (bytes|[KMGT]iB)", message)
    device = re.search(r"GPU ([0-9]+)", message)
    return (
        int(float(wanted[1]) * _SIZES[wanted[2]]) if wanted else 0,
        f"cuda:{device[1]}" if device else "the GPU",
    )


def report_out_of_memory(found: dict[str, Any] | None, words: list[str], path: str,
                         out: TextIO) -> None:
    """`words`: the categories of its rows."""
    if found is None:
        print(f"tidemark: out of memory; the tape up to then is {path}", file=out)
        return
    wanted = f": {_readable(found['wanted_bytes'])} more were wanted" if found["wanted_bytes"] else ""
    print(f"tidemark: out of memory on {found['device']}{wanted}", file=out)
    if found["open_modules"]:
        print(f"  in {found['open_modules'][-1]}", file=out)
    for device, numbers in found["rows"]:
        print(f"  alive on {device}: {_readable(numbers[-1])}", file=out)
        for word, number in zip(words, numbers, strict=False):
            if number:
                print(f"    {word:<15} {_readable(number):>12}", file=out)
    if found["largest"]:
        print("  largest storages:", file=out)
    for bytes_, device, category, scope in found["largest"][:10]:
        print(f"    {_readable(bytes_):>12}  {category:<15} {device}  {scope}", file=out)
    print(f"  the tape up to then: {path}", file=out)


def _readable(bytes_: int) -> str:
    value = float(bytes_)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1024 or unit == "PiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.2f} {unit}"
        value /= 1024
    raise AssertionError("the last unit takes everything")
