"""Gradient accumulation: several small batches to one step of the optimizer."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_model(width: int, layers: int) -> nn.Sequential:
    hidden = [nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU())
              for _ in range(layers)]
    return nn.Sequential(*hidden, nn.Linear(width, 10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    model = make_model(args.width, args.layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(args.steps):
        total = 0.0
        for _ in range(args.accumulate):
            x = torch.randn(args.batch, args.width, device="cuda")
            labels = torch.randint(0, 10, (args.batch,), device="cuda")
            loss = F.cross_entropy(model(x), labels) / args.accumulate
            loss.backward()  # adds to the gradients of the batches before
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {total:.3f}")


if __name__ == "__main__":
    main()
