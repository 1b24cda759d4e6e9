"""An MLP mixer under float16 autocast with GradScaler: patches of channels_last images, mixed both ways, Adamax."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, PATCH, SIDE = 512, 14, 210


class Block(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.across = nn.Sequential(nn.Linear(tokens, 256), nn.GELU(), nn.Linear(256, tokens))
        self.within = nn.Sequential(nn.Linear(WIDTH, 2048), nn.GELU(), nn.Linear(2048, WIDTH))

    def forward(self, x):
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, layers=16, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.blocks = nn.Sequential(*(Block((SIDE // PATCH) ** 2) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(1))


torch.manual_seed(0)
model = Mixer().to("cuda").to(memory_format=torch.channels_last)
optimizer = torch.optim.Adamax(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda", init_scale=128.0)

for step in range(3):
    images = torch.randn(72, 3, SIDE, SIDE, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (72,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    print(f"step {step}: {loss.item():.4f}")
