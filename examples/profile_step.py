"""A training step under tidemark.profile: a report, a tape, and PyTorch's view of the same.

    python examples/profile_step.py [--device cuda]
"""

import argparse

import torch
from torch import nn

import tidemark


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device

    model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.rand(64, 256, device=device)
    y = torch.randint(10, (64,), device=device)

    with tidemark.profile() as profiling:
        for _ in range(2):
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()

    print(profiling.report())
    created = [entry for entry in profiling.memory_profile.timeline if entry[1].name == "CREATE"]
    print(f"PyTorch's timeline of it has {len(created)} creations")


if __name__ == "__main__":
    main()
