"""Groups of ranks that NCCL would connect have buffers in the budget; others have none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

SCRIPT = """
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(0)
pair = dist.new_group([0, 1])       # by the backend of the first
alone = dist.new_group([0])         # of one rank: nothing to connect
talk = dist.new_group(backend="gloo")
dist.all_reduce(torch.ones(1 << 20, device="cuda"), group=pair)
"""
MIB = 1 << 20


def test_each_group_of_nccl_with_others_in_it_counts(estimate: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "groups.py"
    script.write_text(SCRIPT)
    report = estimate("--quiet", "--world-size", 4, script).facts
    (nccl,) = [part for part in report["judgement"]["budget"] if part["name"] == "NCCL buffers"]
    # The world and the pair: 16 channels of 4 MiB, 4800 KiB and 512 KiB each.
    assert nccl["bytes"] == 2 * 16 * (4096 + 4800 + 512) * 1024 == 2 * 147 * MIB
    assert nccl["evidence"] == "assumed"
    assert report["judgement"]["budget_error_bytes"] >= nccl["bytes"] // 100 * 50
