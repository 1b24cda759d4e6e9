"""`--gpu all`: one run for each compute capability, one row for each GPU whose memory is known."""

from __future__ import annotations

import re
from pathlib import Path

from forked_commands import run_command

from tidemark.gpus import CATALOGUE, Gpu

GIB = 1 << 30
TENSORS = 21 * GIB // 2
CONTEXT = 643 << 20  # without matrix products
PROGRAM = """
import torch
print("capability", *torch.cuda.get_device_capability())
kept = torch.empty(21 << 29, dtype=torch.uint8, device="cuda")
"""


def row_of(gpu: Gpu) -> tuple[str, ...]:
    verdict = ("does not fit" if gpu.memory_bytes < TENSORS else
               "tight" if gpu.memory_bytes < TENSORS + CONTEXT else "fits")
    return (gpu.name, f"{gpu.memory_bytes / GIB:.2f}", "10.50", "11.13", verdict)


def test_a_capability_is_one_run_and_the_exit_code_that_of_the_best_gpu(tmp_path: Path) -> None:
    script = tmp_path / "hold.py"
    script.write_text(PROGRAM)
    done = run_command("estimate", "--quiet", "--gpu", "all", script)
    assert done.returncode == 0, done.stderr
    known = sorted((gpu for gpu in CATALOGUE.values() if not gpu.is_nominal), key=lambda gpu: gpu.memory_bytes)
    runs = re.findall(r"^capability (\d+) (\d)$", done.stderr, re.MULTILINE)
    assert sorted(runs) == sorted({(str(gpu.major), str(gpu.minor)) for gpu in known})
    rows = re.findall(r"^  (\S.*?) +(\S+) GiB +(\S+) GiB +(\S+) GiB  (.+)$", done.stdout, re.MULTILINE)
    assert rows == [row_of(gpu) for gpu in known]
    assert {verdict for *_, verdict in rows} == {"does not fit", "tight", "fits"}
