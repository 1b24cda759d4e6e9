"""The catalogue of GPUs: what each has, for device properties and for `fits`."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path

GIB = 1 << 30
MIB = 1 << 20


@dataclass(frozen=True)
class Gpu:
    name: str
    memory_bytes: int
    major: int
    minor: int
    multiprocessors: int


# Memory is what the driver reports as total, which is a little less than the box says.
CATALOGUE = {
    "h100": Gpu("NVIDIA H100 80GB HBM3", 81_079 * MIB, 9, 0, 132),
    "h200": Gpu("NVIDIA H200", 143_156 * MIB, 9, 0, 132),
    "b200": Gpu("NVIDIA B200", 182_642 * MIB, 10, 0, 148),
    "a100-40gb": Gpu("NVIDIA A100-SXM4-40GB", 40_326 * MIB, 8, 0, 108),
    "a100-80gb": Gpu("NVIDIA A100-SXM4-80GB", 81_051 * MIB, 8, 0, 108),
    "l40s": Gpu("NVIDIA L40S", 45_488 * MIB, 8, 9, 142),
    "l4": Gpu("NVIDIA L4", 22_478 * MIB, 8, 9, 58),
    "a10g": Gpu("NVIDIA A10G", 22_502 * MIB, 8, 6, 80),
    "v100": Gpu("Tesla V100-SXM2-16GB", 16_144 * MIB, 7, 0, 80),
    "t4": Gpu("Tesla T4", 14_917 * MIB, 7, 5, 40),
    "rtx4090": Gpu("NVIDIA GeForce RTX 4090", 24_202 * MIB, 8, 9, 128),
    "rtx3090": Gpu("NVIDIA GeForce RTX 3090", 24_109 * MIB, 8, 6, 82),
}
DEFAULT_GPU = "h100"


def find_gpu(name: str) -> Gpu:
    """A GPU of the catalogue, or one described in a JSON file. Raises ValueError with a hint."""
    if name.lower() in CATALOGUE:
        return CATALOGUE[name.lower()]
    if name.endswith(".json"):
        return read_gpu(Path(name))
    near = near_names(name)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    known = ", ".join(CATALOGUE)
    raise ValueError(f"unknown GPU {name!r} ({meant}known are {known}, or a .json file)")


def near_names(name: str) -> list[str]:
    """Those that begin like this, however it is spelled (A100, RTX 4090); else the most alike."""
    plain = "".join(c for c in name.lower() if c.isalnum())
    names = {"".join(c for c in known if c.isalnum()): known for known in CATALOGUE}
    begin = [known for text, known in names.items() if plain and text.startswith(plain)]
    return begin or [names[text] for text in difflib.get_close_matches(plain, names, n=2)]


def read_gpu(path: Path) -> Gpu:
    """Reads {"name", "memory_bytes", "major", "minor", "multiprocessors"}."""
    try:
        facts = json.loads(path.read_text())
        gpu = Gpu(
            str(facts["name"]),
            int(facts["memory_bytes"]),
            int(facts["major"]),
            int(facts["minor"]),
            int(facts.get("multiprocessors", 100)),
        )
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path}: not a description of a GPU: {error} "
            "(needed are name, memory_bytes, major, minor; multiprocessors if you like)"
        ) from error
    if gpu.memory_bytes <= 0:
        raise ValueError(f"{path}: memory_bytes must be positive")
    return gpu
