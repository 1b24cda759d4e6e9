"""The tracker on a real GPU: how near its peaks are to the allocator's, and what it costs.

    python bench/tracker_on_gpu.py > tests/recording/gpu_facts.json

Two programs compare the drop-in's peak with the allocator's own active bytes (an MLP in bf16; blocks
under activation checkpointing); three models compare the time of tracked and untracked steps.
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

DEVICE = torch.device("cuda:0")
ROUNDS, STEPS = 9, 10


def warm_up() -> None:
    """Takes the workspaces of the BLAS library, on both threads, before anything is counted."""
    a = torch.rand(128, 128, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
    (a @ a).sum().backward()
    torch.cuda.synchronize()


def peak_ratio(make: Callable[[], tuple[nn.Module, Callable[[], torch.Tensor]]]) -> dict[str, Any]:
    """The tracker's peak over the allocator's, in the second of two iterations."""
    warm_up()
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_accumulated_memory_stats()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats()["active_bytes.all.current"]
    model, loss_of = make()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, foreach=True)
    tracker = MemTracker()
    tracker.track_external(model, optimizer)
    with tracker:
        for iteration in range(2):
            loss_of().backward()
            optimizer.step()
            optimizer.zero_grad()
            if iteration == 0:
                tracker.reset_mod_stats()
    tracked = tracker.get_tracker_snapshot("peak")[DEVICE]["Total"]
    real = torch.cuda.memory_stats()["active_bytes.all.peak"] - before
    return {"tracked_bytes": tracked, "active_bytes": real, "ratio": round(tracked / real, 5)}


def mlp() -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    layers = [layer for _ in range(4) for layer in (nn.Linear(512, 512), nn.ReLU())]
    model = nn.Sequential(*layers).to(DEVICE, torch.bfloat16)
    return model, lambda: model(torch.randn(16, 512, device=DEVICE, dtype=torch.bfloat16)).sum()


class Blocks(nn.Module):
    def __init__(self, width: int = 1024) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
            for _ in range(4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks[0](x)
        for block in self.blocks[1:]:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def checkpointed() -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    model = Blocks().to(DEVICE, torch.float16)
    return model, lambda: model(torch.randn(128, 1024, 1024, device=DEVICE, dtype=torch.float16)).sum()


def gpt2() -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config()).to(DEVICE)
    ids = torch.randint(50000, (8, 512), device=DEVICE)
    return model, lambda: model(input_ids=ids, labels=ids).loss


def llama() -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=12,
                         num_attention_heads=16, num_key_value_heads=8, vocab_size=32000)
    model = LlamaForCausalLM(config).to(DEVICE, torch.bfloat16)
    ids = torch.randint(32000, (4, 1024), device=DEVICE)
    return model, lambda: model(input_ids=ids, labels=ids).loss


def resnet50() -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    import torchvision

    model = torchvision.models.resnet50().to(DEVICE)
    images = torch.randn(64, 3, 224, 224, device=DEVICE)
    return model, lambda: model(images).sum()


def cost(make: Callable[[], tuple[nn.Module, Callable[[], torch.Tensor]]]) -> dict[str, Any]:
    """Median seconds of a step, tracked and untracked in turn; the tracker stays on in between."""
    model, loss_of = make()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)

    def seconds_a_step() -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(STEPS):
            loss_of().backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / STEPS

    seconds_a_step()
    plain, tracked = [], []
    for _ in range(ROUNDS):
        plain.append(seconds_a_step())
        with tidemark.track(model, optimizer):
            loss_of().backward()  # meets every module
            optimizer.zero_grad()
            tracked.append(seconds_a_step())
    a, b = statistics.median(plain), statistics.median(tracked)
    return {"plain_seconds": round(a, 5), "tracked_seconds": round(b, 5), "ratio": round(b / a, 4)}


def main() -> None:
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout.strip()
    facts = {
        "gpu": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__,
        "peaks": {make.__name__: peak_ratio(make) for make in (mlp, checkpointed)},
        "cost": {make.__name__: cost(make) for make in (gpt2, llama, resnet50)},
    }
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
