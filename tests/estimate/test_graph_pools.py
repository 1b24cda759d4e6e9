"""What CUDA graphs keep is in the reserved bytes of an estimate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MIB = 1 << 20

# The temporary of 40 MiB stays with its graph; what comes next needs 40 MiB of its own.
CAPTURING = """
import torch

def born(mib):
    return torch.empty(mib << 20, dtype=torch.uint8, device="cuda")

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    temporary = born(40)
    del temporary
    result = born(20)
{between}
batch = born(40)
"""


@pytest.mark.parametrize(("between", "expected"), [
    # The result lies in the block of the temporary, which is split for it.
    ("", 80),
    ("torch.cuda.empty_cache()", 80),
    ("del result; graph.reset()", 80),
    ("del result; graph.reset(); torch.cuda.empty_cache()", 40),
    ("del result; del graph; torch.cuda.empty_cache()", 40),
])
def test_a_captured_graph_keeps_what_its_temporaries_had(
        estimate: Callable[..., Any], tmp_path: Path, between: str, expected: int) -> None:
    script = tmp_path / "capture.py"
    script.write_text(CAPTURING.format(between=between))
    done = estimate("--gpu", "h100", script)
    assert done.exit_code == 0, done.script_output
    assert done.facts["judgement"]["max_reserved_bytes"] == expected * MIB


def test_an_emptied_cache_is_not_in_the_reserved_bytes(
        estimate: Callable[..., Any], tmp_path: Path) -> None:
    """30 MiB are free when 40 are asked for; given back before, they are not in the way."""
    for call, expected in (("", 70), ("torch.cuda.empty_cache()", 40)):
        script = tmp_path / "empty.py"
        script.write_text("import torch\n"
                          "torch.empty(30 << 20, dtype=torch.uint8, device='cuda')\n"
                          f"{call}\n"
                          "kept = torch.empty(40 << 20, dtype=torch.uint8, device='cuda')\n")
        done = estimate("--gpu", "h100", script)
        assert done.exit_code == 0, done.script_output
        assert done.facts["judgement"]["max_reserved_bytes"] == expected * MIB
