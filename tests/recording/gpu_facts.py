"""On a real GPU: the tracker's peak beside the caching allocator's, and what tracking costs.

    python tests/recording/gpu_facts.py

What it printed once is kept in golden/gpu_facts.json.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import tidemark
from tidemark.compat.mem_tracker import MemTracker


def warm_up_blas() -> None:
    x = torch.rand(64, 64, device="cuda", requires_grad=True, dtype=torch.bfloat16)
    (x @ x).sum().backward()
    y = torch.rand(64, 64, device="cuda", requires_grad=True, dtype=torch.float16)
    (y @ y).sum().backward()
    torch.cuda.synchronize()


def bytes_of(external: list[Any]) -> int:
    """What these keep on the GPU, as its allocator rounds."""
    tensors = [value for value in external if isinstance(value, torch.Tensor)]
    for value in external:
        if isinstance(value, nn.Module):
            tensors += [*value.parameters(), *value.buffers()]
        if isinstance(value, torch.optim.Optimizer):
            tensors += [one for state in value.state.values() for one in state.values()]
    sizes = {t.data_ptr(): t.untyped_storage().nbytes() for t in tensors if t.is_cuda}
    return sum((size + 511) // 512 * 512 for size in sizes.values())


def peaks(prepare: Callable[[], tuple[list[Any], Callable[[], None]]]) -> dict[str, float]:
    """The tracker's peak and the allocator's active bytes above what was there before.

    What is left at the end and no tensor of the program's is a library's own.
    """
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats()["active_bytes.all.current"]
    external, step = prepare()
    tracker = MemTracker()
    tracker.track_external(*external)
    with tracker:
        for _ in range(2):
            step()
    active = torch.cuda.memory_stats()["active_bytes.all.peak"] - before
    left = torch.cuda.memory_stats()["active_bytes.all.current"] - before
    tracked = tracker.get_tracker_snapshot("peak")[torch.device("cuda", 0)]["Total"]
    return {"tracked_bytes": tracked, "active_bytes": active,
            "library_bytes": left - bytes_of(external)}


def stack_of_linears() -> tuple[list[Any], Callable[[], None]]:
    layers = [layer for _ in range(4) for layer in (nn.Linear(512, 512), nn.ReLU())]
    model = nn.Sequential(*layers).to("cuda", torch.bfloat16)
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    x = torch.randn(16, 512, device="cuda", dtype=torch.bfloat16)

    def step() -> None:
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return [model, optimizer, x], step


class Checkpointed(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
            for _ in range(4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False) if number else block(x)
        return x


def checkpointed_blocks() -> tuple[list[Any], Callable[[], None]]:
    model = Checkpointed(1024).to("cuda", torch.float16)
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)

    def step() -> None:
        x = torch.randn(128, 1024, 1024, device="cuda", dtype=torch.float16)
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return [model, optimizer], step


def encoder_step() -> tuple[list[Any], Callable[[], None]]:
    layer = nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(8, 512, 768, device="cuda")

    def step() -> None:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return [model, optimizer, x], step


def cost(prepare: Callable[[], tuple[list[Any], Callable[[], None]]], pairs: int = 15) -> float:
    external, step = prepare()
    tracker = MemTracker()
    tracker.track_external(*external)

    def timed() -> float:
        step()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    plain, tracked = [], []
    for _ in range(pairs):
        plain.append(timed())
        with tracker:
            tracked.append(timed())
        tracker.reset_mod_stats()
    return statistics.median(tracked) / statistics.median(plain)


def largest_of_a_tape() -> dict[str, Any]:
    external, step = stack_of_linears()
    with tidemark.track(*external) as tracking:
        step()
    tape = tracking.tape
    return {
        "problems": len(list(tidemark.verify(tape))),
        "peak": tracking.peak,
        "devices": [device.device for device in tape.peak().devices],
    }


def pinned() -> dict[str, int]:
    """The most that the host held at once: 3 MiB beside 2, then beside 3 that a copy has pinned."""
    earlier = torch.ones(1 << 20, dtype=torch.uint8).pin_memory()
    with tidemark.track(operators=True) as tracking:
        batch = torch.zeros(3 << 20, dtype=torch.uint8).pin_memory()
        buffer = torch.empty(2 << 20, dtype=torch.uint8, pin_memory=True)
        on_gpu = batch.to("cuda", non_blocking=True)
        del buffer
        back = on_gpu.to("cpu", non_blocking=True)
        torch.cuda.synchronize()
        peak = {device: row["total"] for device, row in tracking.peak.items() if device.startswith("cpu")}
    del earlier, back
    return peak


def driver_version() -> str:
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    warm_up_blas()
    facts = {
        "gpu": torch.cuda.get_device_name(0),
        "driver": driver_version(),
        "torch": torch.__version__,
        "stack_of_linears": peaks(stack_of_linears),
        "checkpointed_blocks": peaks(checkpointed_blocks),
        "tape": largest_of_a_tape(),
        "pinned": pinned(),
        "cost": {"encoder_12x768": round(cost(encoder_step), 3)},
        "dropped": tidemark.recording.library._recorder.dropped(),
    }
    print(json.dumps(facts, indent=2))


if __name__ == "__main__":
    main()
