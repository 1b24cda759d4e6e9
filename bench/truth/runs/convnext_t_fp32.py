"""ConvNeXt tiny in float, 64 images of 224 x 224, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        return super().forward(x).permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 1e-6))

    def forward(self, x):
        y = self.depthwise(x).permute(0, 2, 3, 1)
        y = self.scale * self.down(F.gelu(self.up(self.norm(y))))
        return x + y.permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self, depths=(3, 3, 9, 3), widths=(96, 192, 384, 768), classes=1000):
        super().__init__()
        layers = [nn.Conv2d(3, widths[0], 4, 4), ChannelNorm(widths[0], eps=1e-6)]
        for index, (depth, width) in enumerate(zip(depths, widths)):
            if index:
                before = widths[index - 1]
                layers += [ChannelNorm(before, eps=1e-6), nn.Conv2d(before, width, 2, 2)]
            layers += [Block(width) for _ in range(depth)]
        self.layers = nn.Sequential(*layers)
        self.norm, self.head = nn.LayerNorm(widths[-1], eps=1e-6), nn.Linear(widths[-1], classes)

    def forward(self, images):
        return self.head(self.norm(self.layers(images).mean((-2, -1))))


torch.manual_seed(0)
model = ConvNeXt().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.05)

for step in range(4):
    images = torch.randn(64, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (64,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.4f}")
