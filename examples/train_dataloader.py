"""A DataLoader with worker processes and pinned memory feeds the GPU ahead of time."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Spirals(Dataset):
    """Points on arms that wind around the origin; the arm is the label."""

    def __init__(self, size: int, arms: int, features: int) -> None:
        self.size, self.arms, self.features = size, arms, features

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        arm = index % self.arms
        angle = torch.tensor(6.28 * arm / self.arms + index / self.size)
        harmonics = torch.arange(1, self.features // 2 + 1) * angle
        return torch.cat([harmonics.sin(), harmonics.cos()]), arm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    data = Spirals(args.batch * args.steps, arms=8, features=args.features)
    loader = DataLoader(data, args.batch, shuffle=True, num_workers=args.workers, pin_memory=True,
                        persistent_workers=args.workers > 0)
    model = nn.Sequential(nn.Linear(args.features, 1024), nn.ReLU(), nn.Dropout(0.1),
                          nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 8)).cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for step, (points, arms) in enumerate(loader):
        points, arms = points.cuda(non_blocking=True), arms.cuda(non_blocking=True)
        loss = F.cross_entropy(model(points), arms)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
