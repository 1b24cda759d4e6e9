"""docs/gpus.md has every GPU of the catalogue, and what is said of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.gpus import CATALOGUE, GIB, Gpu, find_gpu

DOCS = Path(__file__).resolve().parents[2] / "docs" / "gpus.md"


def row_of(name: str, gpu: Gpu) -> str:
    kind = "nominal" if gpu.is_nominal else "reported"
    return (f"| `{name}` | {gpu.name} | {gpu.memory_bytes / GIB:.2f} GiB | {kind} "
            f"| {gpu.major}.{gpu.minor} |")


def test_the_page_is_the_catalogue() -> None:
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    assert rows == [row_of(name, gpu) for name, gpu in CATALOGUE.items()]


@pytest.mark.parametrize(("name", "memory_bytes", "capability"), [
    ("24GB", 24 * 10**9, (9, 0)),  # as the default GPU, but for the memory
    ("23.5 GiB", 47 * (1 << 29), (9, 0)),
    ("rtx4090:48gb", 48 * 10**9, (8, 9)),
    ("t4:512MiB", 512 << 20, (7, 5)),
])
def test_an_amount_is_a_gpu_that_nobody_sells(
    name: str, memory_bytes: int, capability: tuple[int, int]
) -> None:
    gpu = find_gpu(name)
    assert (gpu.memory_bytes, (gpu.major, gpu.minor)) == (memory_bytes, capability)
    assert name.rpartition(":")[2] in gpu.name


@pytest.mark.parametrize("name", ["RTX 4080", "rtx-4080", "RTX4080"])
def test_a_name_may_be_spelled_as_on_the_box(name: str) -> None:
    assert find_gpu(name) == CATALOGUE["rtx4080"]


@pytest.mark.parametrize("name", ["0GB", "abacus:24GB", "24XB", "GB"])
def test_what_is_no_gpu_is_refused(name: str) -> None:
    with pytest.raises(ValueError):
        find_gpu(name)
