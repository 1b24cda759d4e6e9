"""Private pools of CUDA graphs and of torch.cuda.MemPool: who gets their memory, live and replayed."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from graph_programs import PROGRAMS
from graph_questions import FILE, run

import tidemark
from tidemark.virtual_cuda import close_gpus, graphs, library

MIB = 1 << 20
NAMES = [program.__name__ for program in PROGRAMS]
REAL = json.loads(FILE.read_text())


def born(mib: int) -> torch.Tensor:
    """From 10 MiB on a segment is as large as its tensor, in steps of 2 MiB."""
    return torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")


def reserved() -> int:
    return torch.cuda.memory_reserved() // MIB


def bytes_by_pool() -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for segment in torch.cuda.memory_snapshot():
        pool = segment["segment_pool_id"]
        found[pool] = found.get(pool, 0) + segment["total_size"] // MIB
    return found


def captured(mib: int, **how: Any) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
    """A graph that keeps so much as its result, and had as much again while it was captured."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **how):
        temporary = born(mib)
        result = born(mib)
        del temporary
    return graph, result


@pytest.fixture(autouse=True)
def one_gpu(open_session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Up to torch 2.11 a segment of 2 MiB is beside all of these.
    monkeypatch.setattr(graphs, "KEEPS_GENERATOR_STATE", False)
    open_session()
    yield
    # Graphs that a test leaves die on its own machine.
    gc.collect()


def test_what_a_capture_frees_is_for_no_one_else() -> None:
    kept = captured(30)
    assert reserved() == 60
    more = born(30)
    assert reserved() == 90 and torch.cuda.memory_allocated() == 60 * MIB
    torch.cuda.empty_cache()
    assert reserved() == 90
    assert bytes_by_pool() == {(0, 0): 30, kept[0].pool(): 60} and more.is_cuda


def test_a_capture_takes_nothing_from_the_cache_which_is_emptied_before() -> None:
    warm = born(40)
    del warm
    graph, _ = captured(30)
    assert reserved() == 60 and bytes_by_pool() == {graph.pool(): 60}


def test_graphs_that_share_a_pool_use_what_is_free_there() -> None:
    first = captured(30)
    second = captured(30, pool=first[0].pool())
    assert second[0].pool() == first[0].pool()
    # The temporary of the second lies where that of the first lay; its result needs more.
    assert reserved() == 90
    own = captured(30)
    assert own[0].pool() != first[0].pool() and reserved() == 150


def test_a_pool_goes_with_its_last_graph() -> None:
    handle = torch.cuda.graph_pool_handle()
    first, second = captured(30, pool=handle), captured(30, pool=handle)
    del first
    torch.cuda.empty_cache()
    assert reserved() == 90
    second[0].reset()
    assert reserved() == 90  # until somebody asks
    torch.cuda.empty_cache()
    assert reserved() == 30  # the result of the second lives
    del second
    torch.cuda.empty_cache()
    assert reserved() == 0


def test_a_handle_serves_again_where_nothing_is_left_of_its_pool() -> None:
    handle = torch.cuda.graph_pool_handle()
    graph, result = captured(30, pool=handle)
    del graph
    with pytest.raises(RuntimeError, match="use_count > 0"):
        captured(30, pool=handle)
    del result
    again = captured(20, pool=handle)
    assert bytes_by_pool() == {handle: 40} and again[0].pool() == handle


def test_a_graph_that_is_captured_anew_leaves_its_pool() -> None:
    graph, result = captured(30)
    before = graph.pool()
    del result
    with torch.cuda.graph(graph):
        result = born(20)
    torch.cuda.empty_cache()
    assert bytes_by_pool() == {graph.pool(): 20} and graph.pool() != before and result.is_cuda


def test_a_graph_has_a_pool_once_it_is_captured() -> None:
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.pool()
    with pytest.raises(RuntimeError, match="before capture_begin"):
        graph.capture_end()


def test_names_of_pools_tell_who_made_them() -> None:
    graph, _ = captured(2)
    assert graph.pool()[0] > 0 and graph.pool()[1] == 0
    handle, pool = torch.cuda.graph_pool_handle(), torch.cuda.MemPool()
    assert handle[0] == pool.id[0] == 0 and 0 < handle[1] < pool.id[1]


def test_a_capture_on_streams_by_hand() -> None:
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        graph.capture_begin()
        inside = born(30)
        graph.capture_end()
    outside = born(30)
    assert bytes_by_pool() == {graph.pool(): 30, (0, 0): 30}
    assert inside.is_cuda and outside.is_cuda


def test_an_error_inside_closes_the_way() -> None:
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(ZeroDivisionError), torch.cuda.graph(graph):
        born(30)
        raise ZeroDivisionError
    born(30)
    assert bytes_by_pool() == {graph.pool(): 30, (0, 0): 30}


def test_a_memory_pool_is_for_the_thread_that_uses_it() -> None:
    pool = torch.cuda.MemPool()
    kept: list[torch.Tensor] = []
    with torch.cuda.use_mem_pool(pool):
        kept.append(born(30))
        other = threading.Thread(target=lambda: kept.append(born(20)))
        other.start()
        other.join()
        kept.append(born(10))
        assert pool.use_count() == 2
    kept.append(born(12))
    assert pool.use_count() == 1
    assert bytes_by_pool() == {pool.id: 40, (0, 0): 32}
    assert sorted(segment["total_size"] // MIB for segment in pool.snapshot()) == [10, 30]


def test_a_memory_pool_gives_back_at_once_what_nobody_has() -> None:
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        kept, dead = born(30), born(20)
    del dead
    torch.cuda.empty_cache()
    assert reserved() == 50
    del pool
    assert reserved() == 30
    del kept
    assert reserved() == 30
    torch.cuda.empty_cache()
    assert reserved() == 0


def test_the_cache_is_not_emptied_from_inside_a_pool() -> None:
    born(40)
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        torch.cuda.empty_cache()
        assert reserved() == 40
    torch.cuda.empty_cache()
    assert reserved() == 0


def test_the_innermost_pool_wins() -> None:
    outer, inner = torch.cuda.MemPool(), torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(outer):
        first = born(30)
        with torch.cuda.use_mem_pool(inner):
            second = born(20)
        third = born(10)
    assert bytes_by_pool() == {outer.id: 40, inner.id: 20}
    assert first.is_cuda and second.is_cuda and third.is_cuda


def test_a_graph_may_share_the_pool_of_a_memory_pool() -> None:
    pool = torch.cuda.MemPool()
    graph, result = captured(30, pool=pool.id)
    assert pool.use_count() == 2 and bytes_by_pool() == {pool.id: 60}
    del pool
    assert reserved() == 60
    graph.reset()
    torch.cuda.empty_cache()
    assert reserved() == 30 and result.is_cuda


def test_streams_are_given_out_in_turn() -> None:
    streams = [torch.cuda.Stream().stream_id for _ in range(33)]
    assert len(set(streams)) == 32 and streams[0] == streams[32] and 0 not in streams
    assert torch.cuda.Stream(priority=-1).stream_id not in streams


def test_what_a_closed_machine_leaves_does_no_harm(open_session: Callable[..., Any]) -> None:
    left = captured(30), torch.cuda.MemPool()
    close_gpus()
    open_session()
    kept = captured(30)
    del left
    gc.collect()
    torch.cuda.empty_cache()
    assert reserved() == 60 and kept[1].is_cuda


def test_the_tape_tells_of_pools(open_session: Callable[..., Any], tmp_path: Path) -> None:
    close_gpus()
    open_session(save=str(tmp_path / "run.tape"))
    graph, result = captured(30)
    more = born(20)
    graph.reset()
    torch.cuda.empty_cache()
    library().finish()
    close_gpus()
    tape = tidemark.open(tmp_path / "run.tape")
    assert not list(tidemark.verify(tape)) and result.is_cuda and more.is_cuda
    told = [(event.kind.name, event.pool) for event in tape if event.pool is not None]
    # What is born before the first capture is nothing: there is no cache to empty.
    assert told == [("PoolUse", 1), ("PoolUse", 0), ("PoolRelease", 1), ("CacheEmpty", 0)]
    births = [event for event in tape if event.kind.name == "Alloc"]
    assert [birth.stream is not None for birth in births] == [True, True, False]


def test_a_real_gpu_was_asked_every_program() -> None:
    assert list(REAL["programs"]) == NAMES
    assert sum(len(stages) for stages in REAL["programs"].values()) > 55


@pytest.mark.filterwarnings("ignore:The AccumulateGrad node")
@pytest.mark.parametrize("name", NAMES)
def test_every_stage_holds_what_it_holds_on_a_real_gpu(
        open_session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    # As the version that was asked, 2.11, has it.
    monkeypatch.setattr(graphs, "KEEPS_GENERATOR_STATE", True)
    real = REAL["programs"][name]

    def run_afresh() -> Stages:
        gc.collect()
        close_gpus()
        open_session(gpu="h200")
        return run(name)

    if real[-1]["stage"] == "failed":
        with pytest.raises(RuntimeError, match="use_count > 0"):
            run_afresh()
        return
    assert run_afresh() == real


@pytest.fixture
def one_processor() -> Iterator[None]:
    """All threads share one: whoever is woken may go on before the one who woke it."""
    before = os.sched_getaffinity(0)
    pin({min(before)})
    yield
    pin(before)


def pin(processors: set[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # it may have ended
            os.sched_setaffinity(int(thread.name), processors)


@pytest.mark.filterwarnings("ignore:The AccumulateGrad node")
@pytest.mark.usefixtures("one_processor")
def test_memory_does_not_depend_on_who_runs_first(
        open_session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Autograd's thread tells that a backward is done before it lets go of the last tensors. Where the
    program did not wait for that, one run in three had two segments more."""
    monkeypatch.setattr(graphs, "KEEPS_GENERATOR_STATE", True)
    for _ in range(20):
        gc.collect()
        close_gpus()
        open_session(gpu="h200")
        assert run("graphed_callables") == REAL["programs"]["graphed_callables"]


@pytest.mark.filterwarnings("ignore:The AccumulateGrad node")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "handle_again"])
def test_a_replay_reserves_what_the_run_reserved(
        open_session: Callable[..., Any], tmp_path: Path, name: str) -> None:
    close_gpus()
    open_session(gpu="h200", save=str(tmp_path / "run.tape"))
    library().set_meta("run.torch", torch.__version__)
    stages = run(name)
    gc.collect()
    library().finish()
    close_gpus()
    tape = tidemark.open(tmp_path / "run.tape")
    assert not list(tidemark.verify(tape))
    [device] = tidemark.find_alloc(tape, settings=[""]).devices
    assert device.outcomes[0].peak.reserved_peak_bytes == stages[-1]["max_reserved"]
    assert device.outcomes[0].peak.allocated_bytes == stages[-1]["max_allocated"]
