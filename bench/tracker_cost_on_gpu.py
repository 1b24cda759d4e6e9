"""What trackers cost on a real GPU: tracked over untracked training steps of three models.

    python bench/tracker_cost_on_gpu.py [--rounds 31]

A step that keeps the GPU busy hides the tracker's work on the CPU; one that waits for the CPU shows
it. operators=True, and MemTracker, tell what lives only inside operators apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from gpu_machine import machine
from torch import nn

import tidemark
from tidemark.compat.mem_tracker import MemTracker

DEVICE = torch.device("cuda:0")
STEPS = 4


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


def cost(make: Callable[[], tuple[nn.Module, Callable[[], torch.Tensor]]], count: int) -> dict[str, Any]:
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

    def tracked_seconds(tracker: Any) -> float:
        with tracker:
            loss_of().backward()  # meets every module
            optimizer.zero_grad()
            return seconds_a_step()

    seconds_a_step()
    rounds = [(seconds_a_step(), tracked_seconds(tidemark.track(model, optimizer)),
               tracked_seconds(tidemark.track(model, optimizer, operators=True)),
               tracked_seconds(MemTracker())) for _ in range(count)]

    def ratio(which: int) -> float:
        return round(statistics.median(one[which] / one[0] for one in rounds), 3)

    return {"plain_seconds": round(statistics.median(one[0] for one in rounds), 5),
            "track": ratio(1), "track_operators": ratio(2), "MemTracker": ratio(3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    rounds = parser.parse_args().rounds
    facts = {"cost": {make.__name__: cost(make, rounds) for make in (gpt2, llama, resnet50)}}
    print(json.dumps(machine() | facts, indent=1))


if __name__ == "__main__":
    main()
