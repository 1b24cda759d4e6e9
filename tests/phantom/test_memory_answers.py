"""Memory as torch.cuda tells it: by the model of its caching allocator."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tidemark.gpus import CATALOGUE

pytestmark = pytest.mark.usefixtures("gpus")

# 1000 floats are 4000 bytes, and the allocator hands out multiples of 512: 4096.
REQUESTED, ALLOCATED = 4000, 4096
# Small blocks come out of segments of 2 MiB, those from 1 to 10 MiB out of 20.
SMALL_SEGMENT, LARGE_SEGMENT = 2 << 20, 20 << 20


def test_allocated_bytes_rise_and_fall() -> None:
    assert torch.cuda.memory_allocated() == 0
    one = torch.empty(1000, device="cuda")
    two = torch.empty(1000, device="cuda")
    assert torch.cuda.memory_allocated() == 2 * ALLOCATED
    view = one[:10].view(2, 5)
    del one
    assert torch.cuda.memory_allocated() == 2 * ALLOCATED  # the view keeps the storage
    del view
    assert torch.cuda.memory_allocated() == ALLOCATED
    del two
    assert torch.cuda.memory_allocated() == 0


def test_the_peak_stays_until_it_is_reset() -> None:
    one = torch.empty(1000, device="cuda")
    two = torch.empty(1000, device="cuda")
    del two
    assert torch.cuda.max_memory_allocated() == 2 * ALLOCATED
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == ALLOCATED
    del one
    assert torch.cuda.max_memory_allocated("cuda:0") == ALLOCATED


def test_each_device_has_its_own_count() -> None:
    kept = torch.empty(1000, device="cuda:1")
    assert torch.cuda.memory_allocated(0) == 0
    assert torch.cuda.memory_allocated(1) == torch.cuda.memory_allocated("cuda:1") == ALLOCATED
    with torch.cuda.device(1):
        assert torch.cuda.memory_allocated() == ALLOCATED
    assert kept.get_device() == 1
    with pytest.raises(AssertionError, match="device id 2"):
        torch.cuda.memory_allocated(2)


def test_statistics_have_the_keys_that_pytorch_gives() -> None:
    one = torch.empty(1000, device="cuda")
    del one
    two = torch.empty(1000, device="cuda")
    stats = torch.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == ALLOCATED
    assert stats["allocated_bytes.all.peak"] == ALLOCATED
    assert stats["allocated_bytes.all.allocated"] == 2 * ALLOCATED
    assert stats["allocated_bytes.all.freed"] == ALLOCATED
    assert stats["requested_bytes.all.current"] == REQUESTED
    assert stats["requested_bytes.all.allocated"] == 2 * REQUESTED
    assert stats["requested_bytes.all.freed"] == REQUESTED
    assert stats["allocation.all.current"] == 1 and stats["allocation.all.allocated"] == 2
    assert stats["allocation.all.peak"] == 1
    assert stats["num_ooms"] == 0 and stats["num_alloc_retries"] == 0
    for key in ("reserved_bytes.all.current", "active_bytes.all.peak", "segment.all.current",
                "inactive_split_bytes.all.current", "oversize_allocations.current"):
        assert key in stats
    nested: Any = torch.cuda.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == ALLOCATED
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    assert two.numel() == 1000


def test_free_memory_is_the_gpus_less_what_is_reserved() -> None:
    total = CATALOGUE["h100"].memory_bytes
    kept = torch.empty(1000, device="cuda")
    assert torch.cuda.mem_get_info() == (total - SMALL_SEGMENT, total)
    assert torch.cuda.mem_get_info(1) == (total, total)
    assert torch.accelerator.memory.get_memory_info(0) == (total - SMALL_SEGMENT, total)
    assert torch.accelerator.memory_allocated() == ALLOCATED
    assert kept.is_cuda


def test_reserved_bytes_are_those_of_segments() -> None:
    small = torch.empty(1000, device="cuda")
    large = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_reserved() == SMALL_SEGMENT + LARGE_SEGMENT
    del large
    assert torch.cuda.memory_reserved() == SMALL_SEGMENT + LARGE_SEGMENT  # cached
    again = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
    assert torch.cuda.max_memory_reserved() == SMALL_SEGMENT + LARGE_SEGMENT
    del again
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == torch.accelerator.memory_reserved() == SMALL_SEGMENT
    stats = torch.cuda.memory_stats()
    assert stats["reserved_bytes.large_pool.peak"] == LARGE_SEGMENT
    assert stats["segment.all.allocated"] == 2 and stats["segment.all.freed"] == 1
    assert stats["num_device_alloc"] == 2 and stats["num_device_free"] == 1
    assert small.is_cuda


def test_a_snapshot_has_segments_and_their_blocks() -> None:
    kept = torch.empty(1000, device="cuda")
    [segment] = torch.cuda.memory_snapshot()
    assert segment["total_size"] == SMALL_SEGMENT and segment["segment_type"] == "small"
    assert segment["allocated_size"] == segment["active_size"] == ALLOCATED
    assert [(block["size"], block["state"]) for block in segment["blocks"]] == [
        (ALLOCATED, "active_allocated"), (SMALL_SEGMENT - ALLOCATED, "inactive")]
    assert segment["blocks"][0]["requested_size"] == REQUESTED
    assert torch.cuda.memory._snapshot()["segments"] == [segment] and kept.is_cuda


def test_a_block_that_another_stream_uses_stays_active() -> None:
    tensor = torch.empty(1000, device="cuda")
    tensor.record_stream(torch.cuda.Stream())
    del tensor
    stats = torch.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == 0
    assert stats["active_bytes.all.current"] == ALLOCATED
    assert torch.empty(1000, device="cuda").is_cuda  # asks whether the stream is done
    assert torch.cuda.memory_stats()["active_bytes.all.current"] == 0


def test_streams_have_blocks_of_their_own() -> None:
    here = torch.empty(1000, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        there = torch.empty(1000, device="cuda")
    assert torch.cuda.memory_reserved() == 2 * SMALL_SEGMENT
    assert here.is_cuda and there.is_cuda


def test_settings_can_be_changed_while_a_program_runs() -> None:
    torch.cuda.memory._set_allocator_settings("expandable_segments:True")
    first = torch.empty(15 << 20, dtype=torch.uint8, device="cuda")
    second = torch.empty(30 << 20, dtype=torch.uint8, device="cuda")
    # 45 MiB in pages of 20.
    assert torch.cuda.memory_reserved() == 60 << 20
    assert [one["is_expandable"] for one in torch.cuda.memory_snapshot()] == [True]
    assert first.is_cuda and second.is_cuda
    with pytest.raises(RuntimeError, match="column 21.*True or False"):
        torch.cuda.memory._set_allocator_settings("expandable_segments:maybe")


def test_a_fraction_of_the_memory_is_kept_in_mind() -> None:
    assert torch.cuda.get_per_process_memory_fraction() == 1.0
    torch.cuda.set_per_process_memory_fraction(0.5)
    assert torch.cuda.get_per_process_memory_fraction() == 0.5
    with pytest.raises(ValueError, match="fraction"):
        torch.cuda.set_per_process_memory_fraction(1.5)


def test_reports_and_caches_answer() -> None:
    torch.cuda.empty_cache()
    torch.cuda.reset_accumulated_memory_stats()
    assert "allocated" in torch.cuda.memory_summary()
    assert torch.cuda.memory_snapshot() == []
    torch.cuda.memory._record_memory_history()


def test_what_an_operator_allocates_inside_does_not_count() -> None:
    # PyTorch's meta kernel of layer norm is made of a dozen operators; CUDA's is one, with the
    # result, the mean and the reciprocal deviation of each row.
    rows = torch.empty(100, 1000, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = torch.nn.functional.layer_norm(rows, (1000,))
    # 100 statistics of 4 bytes are 400, one block of 512 each; they die with the call.
    assert torch.cuda.max_memory_allocated() - before == 400_384 + 2 * 512
    assert result.shape == rows.shape


def test_a_loss_keeps_the_room_of_its_elements_as_on_cuda() -> None:
    a, b = torch.empty(1000, device="cuda"), torch.empty(1000, device="cuda")
    before = torch.cuda.memory_allocated()
    loss = torch.nn.functional.mse_loss(a, b)
    assert torch.cuda.memory_allocated() - before == ALLOCATED and loss.dim() == 0
    lean = torch.nn.functional.l1_loss(a, b)
    assert torch.cuda.memory_allocated() - before == ALLOCATED + 512 and lean.dim() == 0


def test_resized_storages_are_counted() -> None:
    shard = torch.empty(1000, device="cuda")
    shard.untyped_storage().resize_(0)
    assert torch.cuda.memory_allocated() == 0
    shard.untyped_storage().resize_(4000)
    assert torch.cuda.memory_allocated() == ALLOCATED
    shard.resize_(2000)
    assert torch.cuda.memory_allocated() == 8192  # 8000 bytes rounded to 512
