"""CPU tensors have their true values on virtual GPUs too, whoever looks, and however late."""

from __future__ import annotations

import ctypes
import faulthandler
import io
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from host_programs import digest, run_program
from torch import nn

from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import close_gpus, library, open_gpus

SEEDS = range(int(os.environ.get("TIDEMARK_HOST_PROGRAMS", "60")))
MIB = 1 << 20
# Before, the CPU's own kernels cannot be had from PyTorch: large CPU tensors always have memory.
since_2_13 = pytest.mark.skipif(
    tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13),
    reason="this PyTorch does not hand out the kernels of the CPU",
)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def codes() -> list[str]:
    return [note["code"] for note in library().diagnostics()]


def test_programs_leave_the_same_bits_with_and_without() -> None:
    plain = [run_program(seed) for seed in SEEDS]
    open_gpus(CATALOGUE["h100"])
    try:
        ours = [run_program(seed) for seed in SEEDS]
        given_up = "values-given-up" in codes()
    finally:
        close_gpus()
    for seed, expected, seen in zip(SEEDS, plain, ours):
        assert seen == expected, f"program {seed}"
    assert not given_up


# What strangers met.


@pytest.mark.usefixtures("gpus")
def test_ones_add_up_and_rows_can_be_written() -> None:
    assert torch.ones(1024, 1024).sum() == MIB
    zeros = torch.zeros(1024, 1024)
    zeros[0] = 1
    assert zeros.sum() == 1024
    mask = torch.rand(512, 1024) < 0.15
    assert 0.14 < mask.float().mean() < 0.16
    ids = torch.randint(0, 9, (512, 1024))
    assert ids[mask].shape == (mask.sum(),)
    assert ids.cuda()[mask.cuda()].shape == (mask.sum(),)


@since_2_13
@pytest.mark.usefixtures("gpus")
def test_a_model_that_is_only_moved_takes_no_memory() -> None:
    before = resident_bytes()
    layers = nn.ModuleList(nn.Linear(4096, 4096, bias=False) for _ in range(16))  # 64 MiB each
    layers[0].weight.data.mul_(0.5)
    halves = [torch.randn(4096, 4096) * 0.02, layers[1].weight.detach().to(torch.bfloat16)]
    copied = layers[2].weight.detach().clone()
    layers.cuda()
    assert all(weight.is_cuda for weight in layers.parameters())
    assert resident_bytes() - before < 64 * MIB
    assert copied[0, 0] != 0 and halves[0][0, 0] != 0 and halves[1][0, 0] != 0


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("draw", [
    lambda: torch.randn(723, 701),
    lambda: torch.rand(723, 701, dtype=torch.float64),
    lambda: torch.randn(723, 701, dtype=torch.bfloat16),
    lambda: torch.empty(4096, 4096).uniform_(),  # so many that the generator jumps
    lambda: torch.empty(4097, 4097, dtype=torch.float64).normal_(),
])
def test_the_generator_goes_on_as_if_all_had_been_drawn(draw: Callable[[], torch.Tensor]) -> None:
    torch.manual_seed(3)
    unread, after = draw(), torch.get_rng_state()
    close_gpus()
    torch.manual_seed(3)
    drawn = draw()
    assert torch.equal(torch.get_rng_state(), after)
    assert torch.equal(drawn, unread)


@pytest.mark.usefixtures("gpus")
def test_arguments_that_are_wrong_are_refused_at_once() -> None:
    weight = torch.empty(512, 1024)
    for wrong in (lambda: weight.normal_(0, -1), lambda: weight.uniform_(2, 1),
                  lambda: weight.mul_(1j), lambda: weight.fill_(torch.ones(3))):
        with pytest.raises(RuntimeError):
            wrong()


# Who looks past operators.


def half_made() -> torch.Tensor:
    return torch.ones(512, 1024).mul_(2)


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("look", [
    lambda t: t.numpy().sum(),
    lambda t: np.asarray(t).sum(),
    lambda t: np.from_dlpack(t).sum(),
    lambda t: np.frombuffer(ctypes.string_at(t.data_ptr(), t.nbytes), np.float32).sum(),
    lambda t: np.frombuffer(bytes(t.untyped_storage()[:64]), np.float32).sum() * t.numel() / 16,
    lambda t: torch.frombuffer(t.numpy(), dtype=torch.float32).sum().item(),
], ids=["numpy", "asarray", "dlpack", "pointer", "storage", "buffer"])
def test_whoever_reads_memory_sees_values(look: Callable[[torch.Tensor], float]) -> None:
    assert look(half_made()) == 2 * 512 * 1024


@pytest.mark.usefixtures("gpus")
def test_the_system_reads_and_writes_it_too(tmp_path: Path) -> None:
    file = tmp_path / "values"
    half_made().numpy().tofile(file)
    assert np.fromfile(file, np.float32).sum() == MIB
    with open(file, "wb", buffering=0) as out:
        out.write(memoryview(half_made().numpy()).cast("B"))
    assert np.fromfile(file, np.float32).sum() == MIB
    target = torch.ones(512, 1024)
    with open(file, "rb", buffering=0) as source:
        assert source.readinto(memoryview(target.numpy()).cast("B")) == target.nbytes
    assert target.sum() == MIB
    with open(file, "wb") as out:
        half_made().untyped_storage()._write_file(out, True, False, 4)
    fresh = torch.empty(512, 1024)
    with open(file, "rb", buffering=0) as source:
        source.readinto(memoryview(fresh.numpy()).cast("B"))
    assert fresh.sum() == MIB


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("checksum", [True, False])
def test_what_is_saved_has_values(tmp_path: Path, checksum: bool) -> None:
    before = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(checksum)
    try:
        torch.save(half_made(), tmp_path / "t.pt")
        buffer = io.BytesIO()
        torch.save(half_made(), buffer)
    finally:
        torch.serialization.set_crc32_options(before)
    assert torch.load(tmp_path / "t.pt").sum() == MIB
    buffer.seek(0)
    assert torch.load(buffer).sum() == MIB


class Rows(torch.utils.data.Dataset[torch.Tensor]):
    def __init__(self) -> None:
        self.data = torch.ones(4, 1024, 512)  # hollow when the workers are born

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        made_here = torch.full((1024, 512), float(index))
        return self.data[index] + made_here


@pytest.mark.usefixtures("gpus")
def test_workers_of_a_loader_see_and_send_values() -> None:
    rows = Rows()
    loader = torch.utils.data.DataLoader(rows, batch_size=2, num_workers=2, pin_memory=True)
    assert [batch.mean().item() for batch in loader] == [1.5, 3.5]
    assert rows.data.sum() == 4 * 1024 * 512


@pytest.mark.usefixtures("gpus")
def test_many_threads_may_look_at_once() -> None:
    unread = [torch.full((1024, 1024), float(i)) for i in range(6)]
    sums: list[float] = []

    def look() -> None:
        sums.extend(t.sum().item() for t in unread)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sums) == sorted(8 * [float(i * MIB) for i in range(6)])


@pytest.mark.usefixtures("gpus")
def test_parts_that_threads_fill_are_all_there() -> None:
    whole = torch.empty(64, 64, 1024)

    def fill(i: int) -> None:
        whole[i].fill_(i)

    threads = [threading.Thread(target=fill, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert whole.mean((1, 2)).tolist() == list(range(64))


@pytest.mark.usefixtures("gpus")
def test_a_handler_of_faults_that_comes_later_does_no_harm(tmp_path: Path) -> None:
    unread = torch.ones(1024, 1024)
    was_on = faulthandler.is_enabled()
    with open(tmp_path / "faults", "w") as out:
        faulthandler.enable(out)
        assert unread.sum() == MIB
        other = torch.ones(1024, 1024)
        faulthandler.disable()
        assert other.sum() == MIB
        if was_on:
            faulthandler.enable()


def test_a_real_fault_still_ends_the_process(fresh_process: Any) -> None:
    program = """
import ctypes
from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import load, open_gpus
load()
import torch
open_gpus(CATALOGUE["h100"])
assert torch.ones(1024, 1024).sum() == 1 << 20
print("here", flush=True)
ctypes.string_at(8)
"""
    done = fresh_process(program)
    assert done.stdout == "here\n" and done.returncode == -11


# The budget.


@since_2_13
def test_beyond_the_budget_values_are_zeros_and_the_line_is_named(
    open_session: Callable[..., Any],
) -> None:
    open_session(host_memory=6 * MIB)
    torch.manual_seed(1)
    first, second, third = (torch.ones(1024, 1024) for _ in range(3))  # 4 MiB each
    assert (first.sum(), second.sum()) == (MIB, 0)
    notes = [note for note in library().diagnostics() if note["code"] == "values-given-up"]
    assert len(notes) == 1 and "test_host_values.py" in notes[0]["where"]
    assert "--host-memory" in notes[0]["message"] and "6.00 MiB" in notes[0]["message"]
    moved = second[:8, 0].cuda()
    assert library().certainty(moved.untyped_storage()._cdata) == "assumed"
    del first
    assert third.sum() == MIB
    second.fill_(2)  # it is ordinary memory now
    assert second.sum() == 2 * MIB


def test_without_a_budget_nothing_is_given_up(open_session: Callable[..., Any]) -> None:
    open_session()
    expected = digest(torch.full((1 << 20,), 2.0))
    assert digest(torch.ones(1 << 20).mul_(2)) == expected
    assert "values-given-up" not in codes()
