"""Holds a profile's totals against torch.cuda's own counters; run it where there is a GPU.

    python tests/oracle_profile/profile_on_gpu.py
"""

import sys

import torch
from torch import nn

import tidemark

BLOCK = 512  # what PyTorch's allocator rounds to


def live_bytes(tape: tidemark.Tape, device: str) -> int:
    """What is alive at the end, in whole blocks."""
    alive: dict[int, int] = {}
    for event in tape:
        if event.device != device:
            continue
        if event.kind.name in ("Alloc", "Resize"):
            alive[event.storage] = event.bytes
        elif event.kind.name == "Free":
            del alive[event.storage]
    return sum(-(-size // BLOCK) * BLOCK for size in alive.values())


def train(steps: int) -> tuple[object, ...]:
    model = nn.Sequential(nn.Linear(300, 700), nn.GELU(), nn.Linear(700, 50)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    loss = None
    for _ in range(steps):
        x = torch.randn(100, 300, device="cuda")
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
    return model, optimizer, loss


def main() -> int:
    torch.zeros(1, device="cuda")  # the context, and nothing that lives
    assert torch.cuda.memory_allocated() == 0
    torch.cuda.reset_peak_memory_stats()
    with tidemark.profile() as profiling:
        kept = train(3)
        live, peak = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
    tape = profiling.tape
    found = live_bytes(tape, "cuda:0")
    highest = next(one for one in tape.peak().devices if one.device == "cuda:0").allocated_bytes
    print(profiling.report())
    print(f"alive at the end: {found}, torch.cuda: {live}; peak: {highest}, torch.cuda: {peak}")
    assert kept and (found, highest) == (live, peak)
    assert list(tape.verify()) == []
    return 0


if __name__ == "__main__":
    sys.exit(main())
