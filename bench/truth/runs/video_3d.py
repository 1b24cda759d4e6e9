"""Video classification in float with convolutions over space and time apart, 8 clips of 16 frames, SGD."""

import torch
import torch.nn.functional as F
from torch import nn


def spatial(before, after, stride=1):
    return nn.Conv3d(before, after, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False)


def temporal(before, after, stride=1):
    return nn.Conv3d(before, after, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False)


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        middle = before * after * 27 // (before * 9 + 3 * after)
        self.conv1 = nn.Sequential(spatial(before, middle, stride), nn.BatchNorm3d(middle), nn.ReLU(),
                                   temporal(middle, after, stride), nn.BatchNorm3d(after), nn.ReLU())
        self.conv2 = nn.Sequential(nn.Conv3d(after, after, 3, padding=1, bias=False), nn.BatchNorm3d(after))
        self.skip = nn.Identity()
        if stride != 1 or before != after:
            self.skip = nn.Sequential(nn.Conv3d(before, after, 1, stride, bias=False), nn.BatchNorm3d(after))

    def forward(self, x):
        return F.relu(self.conv2(self.conv1(x)) + self.skip(x))


class VideoNet(nn.Module):
    def __init__(self, classes=400):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3), bias=False),
                                  nn.BatchNorm3d(45), nn.ReLU(), temporal(45, 64), nn.BatchNorm3d(64), nn.ReLU())
        widths = (64, 64, 128, 256, 512)
        self.blocks = nn.Sequential(*(
            nn.Sequential(Block(before, after, 1 if after == 64 else 2), Block(after, after, 1))
            for before, after in zip(widths, widths[1:])))
        self.head = nn.Linear(512, classes)

    def forward(self, clips):
        return self.head(self.blocks(self.stem(clips)).mean((2, 3, 4)))


torch.manual_seed(0)
model = VideoNet().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)

for step in range(3):
    clips = torch.randn(8, 3, 16, 112, 112, device="cuda")
    labels = torch.randint(0, 400, (8,), device="cuda")
    loss = F.cross_entropy(model(clips), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    print(step, loss.item())
