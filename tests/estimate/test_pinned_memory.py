"""The host's pinned memory on virtual GPUs: a device of its own, in text and in JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sharded_scripts import HEAD

import tidemark

MIB = 1 << 20

PINS = """
import torch
batch = torch.zeros(3 << 20, dtype=torch.uint8).pin_memory()
buffer = torch.empty(2 << 20, dtype=torch.uint8, pin_memory=True)
assert batch.is_pinned() and batch[5:].is_pinned() and not torch.zeros(5).is_pinned()
on_gpu = batch.to("cuda", non_blocking=True)
del buffer
back = on_gpu.to("cpu", non_blocking=True)  # PyTorch pins what is copied while the program goes on
plain = on_gpu.cpu()
assert back.is_pinned() and not plain.is_pinned()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PINS)
    return tmp_path / "train.py"


def test_what_is_pinned_has_a_row_of_its_own(estimate: Callable[..., Any], script: Path) -> None:
    done = estimate("--save", script.with_name("run.tape"), script)
    assert done.exit_code == 0, done.script_output
    rows = {one["device"]: one for one in done.facts["peak"]["devices"]}
    # 3 and 2 MiB, then 3 and 3; the copy that is waited for is not pinned, and not counted.
    assert rows["cpu:pinned"]["allocated_bytes"] == 6 * MIB
    assert rows["cuda:0"]["allocated_bytes"] == 3 * MIB
    assert done.facts["judgement"]["device"] == "cuda:0"  # though more is pinned
    assert done.facts["judgement"]["tensor_bytes"] == 3 * MIB
    text = str(tidemark.open(script.with_name("run.tape")).peak())
    assert "cpu:pinned" in text and "6.00 MiB" in text


def test_a_program_that_pins_nothing_has_no_such_row(estimate: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nkept = torch.ones(8).cuda().cpu()\n")
    done = estimate(tmp_path / "train.py")
    assert [one["device"] for one in done.facts["peak"]["devices"]] == ["cuda:0"]


def test_offloaded_shards_are_pinned_as_what_they_are(estimate: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""
import torch
from torch import nn
device = "cuda"
""" + HEAD + """
from torch.distributed.fsdp import CPUOffloadPolicy
train(shard(Net(blocks=1), offload_policy=CPUOffloadPolicy(pin_memory=True)), steps=2)
""")
    done = estimate("--steps", 0, tmp_path / "train.py")
    assert done.exit_code == 0, done.script_output
    row = next(one for one in done.facts["peak"]["devices"] if one["device"] == "cpu:pinned")
    # Two layers of 64 x 192, their biases, and a head of 8 x 64: a quarter of each. With what is left of the
    # last gradients, at most.
    shards = (2 * 64 * 192 + 192 + 64 + 8 * 64 + 8) // 4 * 4
    assert row["categories"]["ShardedParameter"] == shards
    assert shards <= row["categories"]["ShardedGradient"] <= 2 * shards
