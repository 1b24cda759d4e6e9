"""A small convolutional net with batch norm, in channels-last layout."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def stage(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


def make_model(classes: int) -> nn.Sequential:
    return nn.Sequential(
        stage(3, 32), stage(32, 64), stage(64, 128), stage(128, 256),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(256, classes),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    model = make_model(classes=100).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.steps)
    for step in range(args.steps):
        images = torch.randn(args.batch, 3, args.size, args.size).cuda()
        images = images.to(memory_format=torch.channels_last)
        labels = torch.randint(0, 100, (args.batch,)).cuda()
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
