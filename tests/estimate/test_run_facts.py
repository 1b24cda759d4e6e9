"""What the tape of an estimate says of its run as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from forked_commands import run_command

import tidemark

TRAIN = """
import torch
model = torch.nn.Linear(16, 16).cuda()
optimizer = torch.optim.SGD(model.parameters())
for _ in range(STEPS):
    model(torch.randn(4, 16, device="cuda")).sum().backward()
    optimizer.step()
"""
GIB = 1 << 30


def meta_of(folder: Path, text: str, *flags: str) -> dict[str, str]:
    script = folder / "train.py"
    script.write_text(text)
    run_command("estimate", "--save", "run.tape", *flags, script, cwd=folder, timeout=120)
    return tidemark.open(folder / "run.tape").meta


def test_a_run_that_we_ended_says_so_and_what_it_ran_on(tmp_path: Path) -> None:
    meta = meta_of(tmp_path, TRAIN.replace("STEPS", "5"), "--gpu", "t4", "--gpus", "2",
                   "--world-size", "4", "--rank", "3", "--steps", "2")
    assert meta["run.kind"] == "estimate"
    assert (meta["run.ended"], meta["run.steps"]) == ("steps", "2")
    assert meta["run.torch"] == torch.__version__
    assert (meta["run.rank"], meta["run.world_size"]) == ("3", "4")
    assert int(meta["run.ops"]) > 0 and float(meta["run.wall_seconds"]) > 0
    # NVIDIA's own name; 14 917 MiB are what its driver reports.
    assert meta["gpu.name"] == "Tesla T4" and meta["gpu.memory_bytes"] == str(14_917 << 20)
    assert (meta["gpu.capability"], meta["gpu.count"]) == ("7.5", "2")
    assert (meta["used.gpu"], meta["used.matmul"]) == ("yes", "yes")
    assert meta["used.convolution"] == meta["used.attention"] == "no"
    assert "run.failure" not in meta and "oom.device" not in meta


@pytest.mark.parametrize("ending", ["", "import sys; sys.exit()", "raise SystemExit(0)"])
def test_a_script_that_ends_by_itself_leaves_nothing_unseen(tmp_path: Path, ending: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAIN.replace("STEPS", "1") + ending + "\n")
    answer = run_command("estimate", "--json", "--save", "run.tape", script, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    facts = json.loads(answer.stdout)
    assert (facts["not_covered"], facts["judgement"]["partial"]) == ([], False)
    assert tidemark.open(tmp_path / "run.tape").meta["run.ended"] == "script"


def test_a_script_without_gpu_or_product_says_so(tmp_path: Path) -> None:
    meta = meta_of(tmp_path, "import torch\ntorch.zeros(3)\n")
    assert (meta["used.gpu"], meta["used.matmul"], meta["run.steps"]) == ("no", "no", "0")


def test_the_error_is_told_with_its_place(tmp_path: Path) -> None:
    text = "import torch\ndef fail():\n    torch.zeros(2, device='cuda').view(3)\nfail()\n"
    meta = meta_of(tmp_path, text)
    assert meta["run.ended"] == "error"
    assert meta["run.failure"].startswith("RuntimeError: shape '[3]' is invalid")
    assert meta["run.failure"].endswith(f" ({tmp_path / 'train.py'}:3)")


def test_an_interrupt_is_no_error(tmp_path: Path) -> None:
    assert meta_of(tmp_path, "raise KeyboardInterrupt\n")["run.ended"] == "interrupted"


OVERFLOW = """
import torch
small = torch.empty(100, device="cuda")
large = torch.empty(20 << 30, dtype=torch.uint8, device="cuda")
larger = torch.empty(30 << 30, dtype=torch.uint8, device="cuda")
"""


def test_the_first_moment_without_memory_is_in_the_tape(tmp_path: Path) -> None:
    meta = meta_of(tmp_path, OVERFLOW, "--gpu", "t4")
    assert meta["run.ended"] == "script"
    assert (meta["oom.device"], meta["oom.wanted_bytes"]) == ("cuda:0", str(20 * GIB))
    assert meta["oom.allocated_bytes"] == "512"  # 400 bytes, as the allocator rounds
    born = tidemark.open(tmp_path / "run.tape").events[int(meta["oom.event"])]
    assert (born.kind, born.bytes) == (tidemark.Kind.Alloc, 20 * GIB)


def test_a_script_that_is_ended_by_lack_of_memory_says_so(tmp_path: Path) -> None:
    meta = meta_of(tmp_path, OVERFLOW, "--gpu", "t4", "--oom", "raise")
    assert meta["run.ended"] == "out-of-memory"
    assert meta["run.failure"].startswith("torch.OutOfMemoryError: CUDA out of memory")
    assert meta["run.failure"].endswith("train.py:4)")
    assert (meta["oom.wanted_bytes"], meta["oom.allocated_bytes"]) == (str(20 * GIB), "512")
    refused = tidemark.open(tmp_path / "run.tape").events[int(meta["oom.event"])]
    assert refused.kind == tidemark.Kind.Mark


COMPILED = """
import torch
model = torch.compile(torch.nn.Linear(16, 16).cuda())
@torch.compile(fullgraph=True)
def double(x):
    return 2 * x
model.compile()
double(model(torch.randn(4, 16, device="cuda")))
"""


def test_a_compiler_that_was_left_out_is_told_everywhere(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(COMPILED)
    answers = [run_command("estimate", "--gpu", "h200", "--save", "run.tape", *flags, script, cwd=tmp_path, timeout=120)
               for flags in (["--json"], [])]
    assert [answer.returncode for answer in answers] == [0, 0]
    printed = [answer.stdout for answer in answers]
    (told,) = json.loads(printed[0])["diagnostics"]
    assert (told["code"], told["severity"], told["count"]) == ("compile-ignored", "warning", 3)
    assert told["where"] == f"{script}:3"
    assert "torch.compile was left out" in printed[1] and "3 times" in printed[1]
    (kept,) = tidemark.open(tmp_path / "run.tape").diagnostics
    assert (kept.code, kept.count, kept.where) == ("compile-ignored", 3, f"{script}:3")
