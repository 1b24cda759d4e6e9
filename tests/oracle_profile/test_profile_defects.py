"""Where PyTorch's memory profile gives up or is wrong, ours answers; each defect is shown first."""

import contextlib
import gc
import importlib
import logging
import re
import sys
from pathlib import Path

import pytest
import torch
import torch.profiler._memory_profiler as theirs
from profile_comparing import profiled

import tidemark
from tidemark.compat import memory_profiler as ours

MEGABYTES = 40_000_000  # of ten million floats: such an address is given back and used again


def reuses_an_address() -> torch.profiler.profile:
    old = [torch.ones(10**7)]

    def body() -> None:
        old[0].add_(1)
        old.clear()
        torch.ones(10**7).mul_(2)

    return profiled(body)


def test_a_storage_at_the_address_of_a_dead_one_is_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = reuses_an_address().profiler.kineto_results
    with pytest.raises(AssertionError, match="version mismatch"):
        theirs.MemoryProfile(result)  # D29
    with caplog.at_level(logging.WARNING):
        memory = ours.MemoryProfile(result)
    assert "ids-contradict" in caplog.text
    large = {key.storage.allocation_id for _, _, (key, _), size in memory.timeline
             if size == MEGABYTES}  # fmt: skip
    assert len(large) == 2
    memory._data_flow_graph.validate()


def test_types_smaller_than_a_byte_have_a_size() -> None:
    x = torch.empty(8, dtype=torch.bits8)
    result = profiled(lambda: x.clone()).profiler.kineto_results
    with pytest.raises(TypeError):
        theirs.MemoryProfile(result)  # D30
    assert 8 in {size for *_, size in ours.MemoryProfile(result).timeline}


LATE = """import torch
class Late{0}(torch.nn.Module):
    def forward(self, x):
        return helper(x)
def helper(x):
    return x * 2
"""


def test_modules_that_are_imported_and_die_inside_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    count = 30
    for number in range(count):
        (tmp_path / f"late_{number}.py").write_text(LATE.format(number))

    def body() -> None:
        for number in range(count):
            late = importlib.import_module(f"late_{number}")
            getattr(late, f"Late{number}")()(torch.ones(4))
            del sys.modules[f"late_{number}"], late
        gc.collect()

    # D31: names of what has died are other bytes by now, which mostly spell nothing.
    with contextlib.suppress(UnicodeDecodeError):
        profiled(body).events()
    with tidemark.profile() as profiling:
        body()
    # An input and an output of four floats each.
    births = [event for event in profiling.tape if event.kind.name == "Alloc"]
    assert sum(event.bytes == 16 for event in births) == 2 * count
    assert list(profiling.tape.verify()) == []
    assert all(re.fullmatch(r"Late\d+_\d+", event.scope) for event in births if event.scope)


def test_a_profile_without_its_flags_is_refused_as_by_pytorch() -> None:
    with torch.profiler.profile() as profile:
        torch.ones(1)
    with pytest.raises(ValueError, match="record_shapes=True, profile_memory=True, with_stack"):
        profile._memory_profile()


def test_parameters_in_wrappers_are_seen_where_their_owner_is_named() -> None:
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        model = torch.nn.Sequential(torch.nn.Linear(8, 24), torch.nn.Linear(24, 8))
        fully_shard(model)
        optimizer = torch.optim.Adam(model.parameters(), foreach=False)
        with tidemark.profile(model, optimizer) as profiling:
            model(torch.rand(4, 8)).sum().backward()
            optimizer.step()
    finally:
        dist.destroy_process_group()
    shards = sum(p.to_local().untyped_storage().nbytes() for p in model.parameters())
    assert shards > 0
    tape = profiling.tape
    born = {c: 0 for c in ("Parameter", "OptimizerState")}
    alive: dict[int, tuple[str, int]] = {}
    for event in tape:
        if event.kind.name in ("Alloc", "Relabel"):
            alive[event.storage] = (event.category.name, event.bytes)
        elif event.kind.name == "Free":
            del alive[event.storage]
    for category, size in alive.values():
        if category in born:
            born[category] += size
    steps = 4 * len(list(model.parameters()))  # one float each, beside two moments
    assert born["OptimizerState"] == 2 * shards + steps
    seen_by_pytorch = theirs.MemoryProfile(profiling.profile.profiler.kineto_results)
    states = [c for c in seen_by_pytorch._category_snapshot().values()
              if c == theirs.Category.OPTIMIZER_STATE]  # fmt: skip
    assert states == []  # D18
