"""A ResNet with bottleneck blocks, written out in plain PyTorch."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.narrow = nn.Sequential(nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width))
        self.middle = nn.Sequential(
            nn.Conv2d(width, width, 3, stride, padding=1, bias=False), nn.BatchNorm2d(width))
        self.widen = nn.Sequential(
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.narrow(x), inplace=True)
        out = F.relu(self.middle(out), inplace=True)
        return F.relu(self.widen(out) + self.shortcut(x), inplace=True)


class ResNet(nn.Module):
    def __init__(self, depths: list[int], classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
                                  nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, stride=2, padding=1))
        blocks, inputs = [], 64
        for stage, depth in enumerate(depths):
            width = 64 * 2**stage
            for i in range(depth):
                blocks.append(Bottleneck(inputs, width, stride=2 if stage > 0 and i == 0 else 1))
                inputs = 4 * width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.stem(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depths", type=int, nargs=4, default=[1, 1, 1, 1],
                        help="blocks of each stage; 3 4 6 3 is ResNet-50")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    model = ResNet(args.depths, classes=1000).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(args.steps):
        images = torch.randn(args.batch, 3, args.size, args.size, device="cuda")
        labels = torch.randint(0, 1000, (args.batch,), device="cuda")
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
