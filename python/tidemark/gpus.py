"""The catalogue of GPUs: what each has, for device properties and for `fits`."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, replace
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
    is_nominal: bool = False  # its memory is what the box says


def reported(name: str, gib: float, capability: tuple[int, int], multiprocessors: int) -> Gpu:
    """A card whose memory is known as PyTorch shows it, in hundredths of a GiB."""
    return Gpu(name, int(gib * GIB), *capability, multiprocessors)


def nominal(name: str, gib: int, capability: tuple[int, int], multiprocessors: int) -> Gpu:
    """A card of which only the size on the box is known: the driver reports a little less."""
    return Gpu(name, gib * GIB, *capability, multiprocessors, is_nominal=True)


TURING, AMPERE, ADA, BLACKWELL = (7, 5), (8, 6), (8, 9), (12, 0)  # of the GeForce cards

# Memory is what the driver reports as total, which is a little less than the box says; where that is
# not known, what the box says.
CATALOGUE = {
    "h100": Gpu("NVIDIA H100 80GB HBM3", 81_079 * MIB, 9, 0, 132),
    "h100-pcie": nominal("NVIDIA H100 PCIe", 80, (9, 0), 114),
    "h100-nvl": nominal("NVIDIA H100 NVL", 94, (9, 0), 132),
    "h200": Gpu("NVIDIA H200", 143_156 * MIB, 9, 0, 132),
    "h20": nominal("NVIDIA H20", 96, (9, 0), 78),
    "gh200": nominal("NVIDIA GH200 480GB", 96, (9, 0), 132),
    "b100": nominal("NVIDIA B100", 192, (10, 0), 148),
    "b200": Gpu("NVIDIA B200", 182_642 * MIB, 10, 0, 148),
    "gb200": nominal("NVIDIA GB200", 192, (10, 0), 152),
    "b300": nominal("NVIDIA B300", 288, (10, 3), 148),
    "a100-40gb": Gpu("NVIDIA A100-SXM4-40GB", 40_326 * MIB, 8, 0, 108),
    "a100-80gb": Gpu("NVIDIA A100-SXM4-80GB", 81_051 * MIB, 8, 0, 108),
    "a30": nominal("NVIDIA A30", 24, (8, 0), 56),
    "l40s": Gpu("NVIDIA L40S", 45_488 * MIB, 8, 9, 142),
    "l40": nominal("NVIDIA L40", 48, (8, 9), 142),
    "l4": Gpu("NVIDIA L4", 22_478 * MIB, 8, 9, 58),
    "a40": nominal("NVIDIA A40", 48, (8, 6), 84),
    "a10g": Gpu("NVIDIA A10G", 22_502 * MIB, 8, 6, 80),
    "a10": nominal("NVIDIA A10", 24, (8, 6), 72),
    "a16": nominal("NVIDIA A16", 16, (8, 6), 10),
    "v100": Gpu("Tesla V100-SXM2-16GB", 16_144 * MIB, 7, 0, 80),
    "v100-32gb": reported("Tesla V100-SXM2-32GB", 31.74, (7, 0), 80),
    "p100": reported("Tesla P100-PCIE-16GB", 15.89, (6, 0), 56),
    "t4": Gpu("Tesla T4", 14_917 * MIB, 7, 5, 40),
    "rtx-pro-6000": nominal("NVIDIA RTX PRO 6000 Blackwell", 96, BLACKWELL, 188),
    "rtx6000ada": nominal("NVIDIA RTX 6000 Ada Generation", 48, ADA, 142),
    "rtxa6000": reported("NVIDIA RTX A6000", 47.54, AMPERE, 84),
    "rtxa5000": nominal("NVIDIA RTX A5000", 24, AMPERE, 64),
    "rtxa4000": nominal("NVIDIA RTX A4000", 16, AMPERE, 48),
    "rtx5090": reported("NVIDIA GeForce RTX 5090", 31.36, BLACKWELL, 170),
    "rtx5080": nominal("NVIDIA GeForce RTX 5080", 16, BLACKWELL, 84),
    "rtx5070ti": nominal("NVIDIA GeForce RTX 5070 Ti", 16, BLACKWELL, 70),
    "rtx5070": nominal("NVIDIA GeForce RTX 5070", 12, BLACKWELL, 48),
    "rtx5060ti-16gb": nominal("NVIDIA GeForce RTX 5060 Ti 16GB", 16, BLACKWELL, 36),
    "rtx5060ti-8gb": nominal("NVIDIA GeForce RTX 5060 Ti 8GB", 8, BLACKWELL, 36),
    "rtx5060": nominal("NVIDIA GeForce RTX 5060", 8, BLACKWELL, 30),
    "rtx4090": Gpu("NVIDIA GeForce RTX 4090", 24_202 * MIB, 8, 9, 128),
    "rtx4080super": nominal("NVIDIA GeForce RTX 4080 SUPER", 16, ADA, 80),
    "rtx4080": nominal("NVIDIA GeForce RTX 4080", 16, ADA, 76),
    "rtx4070tisuper": nominal("NVIDIA GeForce RTX 4070 Ti SUPER", 16, ADA, 66),
    "rtx4070ti": nominal("NVIDIA GeForce RTX 4070 Ti", 12, ADA, 60),
    "rtx4070super": nominal("NVIDIA GeForce RTX 4070 SUPER", 12, ADA, 56),
    "rtx4070": nominal("NVIDIA GeForce RTX 4070", 12, ADA, 46),
    "rtx4060ti-16gb": nominal("NVIDIA GeForce RTX 4060 Ti 16GB", 16, ADA, 34),
    "rtx4060ti-8gb": nominal("NVIDIA GeForce RTX 4060 Ti 8GB", 8, ADA, 34),
    "rtx4060": nominal("NVIDIA GeForce RTX 4060", 8, ADA, 24),
    "rtx3090ti": nominal("NVIDIA GeForce RTX 3090 Ti", 24, AMPERE, 84),
    "rtx3090": Gpu("NVIDIA GeForce RTX 3090", 24_109 * MIB, 8, 6, 82),
    "rtx3080ti": reported("NVIDIA GeForce RTX 3080 Ti", 11.77, AMPERE, 80),
    "rtx3080-12gb": nominal("NVIDIA GeForce RTX 3080 12GB", 12, AMPERE, 70),
    "rtx3080": reported("NVIDIA GeForce RTX 3080", 9.78, AMPERE, 68),
    "rtx3070ti": nominal("NVIDIA GeForce RTX 3070 Ti", 8, AMPERE, 48),
    "rtx3070": reported("NVIDIA GeForce RTX 3070", 7.79, AMPERE, 46),
    "rtx3060ti": nominal("NVIDIA GeForce RTX 3060 Ti", 8, AMPERE, 38),
    "rtx3060": reported("NVIDIA GeForce RTX 3060", 11.76, AMPERE, 28),
    "rtx3050": nominal("NVIDIA GeForce RTX 3050", 8, AMPERE, 20),
    "rtx2080ti": reported("NVIDIA GeForce RTX 2080 Ti", 10.76, TURING, 68),
    "rtx2080super": nominal("NVIDIA GeForce RTX 2080 SUPER", 8, TURING, 48),
    "rtx2080": nominal("NVIDIA GeForce RTX 2080", 8, TURING, 46),
    "rtx2070super": nominal("NVIDIA GeForce RTX 2070 SUPER", 8, TURING, 40),
    "rtx2070": nominal("NVIDIA GeForce RTX 2070", 8, TURING, 36),
    "rtx2060super": nominal("NVIDIA GeForce RTX 2060 SUPER", 8, TURING, 34),
    "rtx2060": reported("NVIDIA GeForce RTX 2060", 5.79, TURING, 30),
}
DEFAULT_GPU = "h100"


# In a name: 24GB, 23.6GiB, 8192MB.
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) ?([gm]i?b)", re.IGNORECASE)
_UNITS = {"gb": 10**9, "gib": GIB, "mb": 10**6, "mib": MIB}


def find_gpu(name: str) -> Gpu:
    """A GPU of the catalogue, one with another memory ("24GB", "rtx4090:48GB"), or one described in a
    JSON file. Raises ValueError with a hint."""
    if name.endswith(".json"):
        return read_gpu(Path(name))
    model, _, amount = name.rpartition(":")
    if _AMOUNT.fullmatch(amount):
        return with_memory(find_gpu(model or DEFAULT_GPU), amount)
    if known := CATALOGUE.get(name.lower()) or by_plain_name(name):
        return known
    near = near_names(name)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    known_names = ", ".join(CATALOGUE)
    raise ValueError(f"unknown GPU {name!r} ({meant}known are {known_names}, an amount such as 24GB, "
                     "or a .json file)")


def with_memory(gpu: Gpu, amount: str) -> Gpu:
    """A GPU that nobody sells: as this one, but for the memory."""
    number, unit = _AMOUNT.fullmatch(amount).groups()  # type: ignore[union-attr]
    memory_bytes = int(float(number) * _UNITS[unit.lower()])
    if memory_bytes <= 0:
        raise ValueError(f"{amount}: a GPU has more than no memory")
    return replace(gpu, name=f"a {amount} GPU like {gpu.name}", memory_bytes=memory_bytes,
                   is_nominal=False)


def plain(name: str) -> str:
    """However it is spelled: RTX 4090, rtx-4090."""
    return "".join(c for c in name.lower() if c.isalnum())


def by_plain_name(name: str) -> Gpu | None:
    return {plain(known): gpu for known, gpu in CATALOGUE.items()}.get(plain(name))


def near_names(name: str) -> list[str]:
    """Those that begin like this, however it is spelled (A100, RTX 4060 Ti); else the most alike."""
    names = {plain(known): known for known in CATALOGUE}
    begin = [known for text, known in names.items() if plain(name) and text.startswith(plain(name))]
    return begin or [names[text] for text in difflib.get_close_matches(plain(name), names, n=2)]


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
