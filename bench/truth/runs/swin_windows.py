"""A transformer over shifted windows in float: roll, partition, position bias, stochastic depth, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

WINDOW = 7


class Block(nn.Module):
    def __init__(self, width, heads, side, shift):
        super().__init__()
        self.heads, self.shift = heads, shift if side > WINDOW else 0
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.table = nn.Parameter(torch.randn((2 * WINDOW - 1) ** 2, heads) * 0.02)
        place = torch.stack(torch.meshgrid(torch.arange(WINDOW), torch.arange(WINDOW), indexing="ij")).flatten(1)
        apart = (place[:, :, None] - place[:, None, :] + WINDOW - 1).permute(1, 2, 0)
        self.register_buffer("index", apart[..., 0] * (2 * WINDOW - 1) + apart[..., 1])

    def attend(self, windows):
        count, length, width = windows.shape
        q, k, v = self.qkv(windows).view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q * (width // self.heads) ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.table[self.index].permute(2, 0, 1)[None]
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(count, length, width))

    def forward(self, x):
        batch, height, across, width = x.shape
        y = torch.roll(self.norm1(x), (-self.shift, -self.shift), (1, 2))
        y = y.view(batch, height // WINDOW, WINDOW, across // WINDOW, WINDOW, width)
        y = self.attend(y.permute(0, 1, 3, 2, 4, 5).reshape(-1, WINDOW * WINDOW, width))
        y = y.view(batch, height // WINDOW, across // WINDOW, WINDOW, WINDOW, width).permute(0, 1, 3, 2, 4, 5)
        y = torch.roll(y.reshape(batch, height, across, width), (self.shift, self.shift), (1, 2))
        keep = torch.rand(batch, 1, 1, 1, device=x.device) < 0.9
        x = x + y * keep / 0.9
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Merge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        parts = (x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2])
        return self.reduce(self.norm(torch.cat(parts, dim=-1)))


class Swin(nn.Module):
    def __init__(self, width=96, depths=(2, 2, 6, 2), side=56):
        super().__init__()
        self.patches, layers = nn.Conv2d(3, width, 4, 4), []
        for stage, depth in enumerate(depths):
            layers += [Merge(width)] if stage else []
            width, side = (2 * width, side // 2) if stage else (width, side)
            layers += [Block(width, width // 32, side, (n % 2) * (WINDOW // 2)) for n in range(depth)]
        self.layers, self.norm, self.head = nn.Sequential(*layers), nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, images):
        return self.head(self.norm(self.layers(self.patches(images).permute(0, 2, 3, 1))).mean((1, 2)))


torch.manual_seed(0)
model = Swin().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
for step in range(3):
    images, labels = torch.randn(48, 3, 224, 224).cuda(), torch.randint(0, 1000, (48,)).cuda()
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
