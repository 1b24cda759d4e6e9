"""On a real GPU: the tracker's bytes are the allocator's at any moment, whoever allocates meanwhile."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

import tidemark

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
BENCH = Path(__file__).resolve().parents[2] / "bench" / "record_on_gpu.py"


def block(chance: random.Random) -> torch.Tensor:
    most = chance.choice([900, 90_000, 14_000_000])
    return torch.empty(chance.randint(1, most), dtype=torch.uint8, device="cuda")


@pytest.mark.parametrize("way", ["birth", "operators", "late"])
def test_a_training_run(way: str) -> None:
    done = subprocess.run([sys.executable, BENCH, "--child", way, "small"], capture_output=True,
                          text=True, check=True)
    row = json.loads(done.stdout.splitlines()[-1])
    assert row["tape_allocated"] == row["live_allocated"] == row["torch_allocated"]
    assert row["told_reserved"] == row["torch_reserved"]


def test_at_every_moment() -> None:
    chance = random.Random(3)
    before = [block(chance) for _ in range(20)]
    kept: list[torch.Tensor] = []
    torch.cuda.reset_peak_memory_stats()
    with tidemark.track() as tracking:
        for moment in range(2000):
            if kept and chance.random() < 0.48:
                kept.pop(chance.randrange(len(kept)))
            else:
                kept.append(block(chance))
            if moment == 1000:
                before.clear()
                torch.cuda.empty_cache()
            assert tracking.current["cuda:0"]["total"] == torch.cuda.memory_allocated(), moment
    assert tracking.peak["cuda:0"]["total"] == torch.cuda.max_memory_allocated()
    facts = tracking.facts()
    assert facts["judgement"]["max_reserved_bytes"] == torch.cuda.max_memory_reserved()
    assert facts["diagnostics"] == []


def test_threads_allocate_while_somebody_asks() -> None:
    def work(seed: int) -> None:
        chance = random.Random(seed)
        own: list[torch.Tensor] = []
        for _ in range(2000):
            if own and chance.random() < 0.5:
                own.pop()
            else:
                own.append(block(chance))

    torch.cuda.init()
    torch.cuda.reset_peak_memory_stats()
    with tidemark.track() as tracking:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert all(row["total"] >= 0 for row in tracking.current.values())
        for thread in threads:
            thread.join()
        now = tracking.current.get("cuda:0", {"total": 0})  # no row where nothing is left
        assert now["total"] == torch.cuda.memory_allocated()
    assert tracking.facts()["judgement"]["max_allocated_bytes"] == torch.cuda.max_memory_allocated()
    assert tracking.facts()["diagnostics"] == []
