"""Super-resolution under float16 autocast with GradScaler in channels_last: pixel shuffle, L1 loss, Adam."""

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return x + 0.1 * self.conv2(F.relu(self.conv1(x)))


class Upscaler(nn.Module):
    def __init__(self, width=128, blocks=16):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(*(Residual(width) for _ in range(blocks)), nn.Conv2d(width, width, 3, padding=1))
        self.up = nn.Sequential(nn.Conv2d(width, 4 * width, 3, padding=1), nn.PixelShuffle(2),
                                nn.Conv2d(width, 4 * width, 3, padding=1), nn.PixelShuffle(2))
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, small):
        x = self.first(small)
        return self.last(self.up(x + self.body(x)))


torch.manual_seed(0)
model = Upscaler().to("cuda", memory_format=torch.channels_last)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)

for step in range(3):
    large = torch.rand(28, 3, 288, 288, device="cuda").contiguous(memory_format=torch.channels_last)
    small = F.interpolate(large, scale_factor=0.25, mode="bicubic", antialias=True)
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.l1_loss(model(small), large)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step} loss {loss.item():.4f}")
