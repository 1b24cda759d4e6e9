"""A conformer under bfloat16 autocast: subsampling, half feed-forwards, attention, depthwise convolution, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, UNITS = 384, 6, 1024


def feed_forward():
    return nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.SiLU(), nn.Dropout(0.1),
                         nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)
        return self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))


class Convolution(nn.Module):
    def __init__(self, kernel=31):
        super().__init__()
        self.norm, self.wide = nn.LayerNorm(WIDTH), nn.Conv1d(WIDTH, 2 * WIDTH, 1)
        self.depthwise = nn.Conv1d(WIDTH, WIDTH, kernel, padding=kernel // 2, groups=WIDTH)
        self.batch_norm, self.narrow = nn.BatchNorm1d(WIDTH), nn.Conv1d(WIDTH, WIDTH, 1)

    def forward(self, x):
        y = F.glu(self.wide(self.norm(x).transpose(1, 2)), dim=1)
        return self.narrow(F.silu(self.batch_norm(self.depthwise(y)))).transpose(1, 2)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.attention, self.convolution = feed_forward(), Attention(), Convolution()
        self.second, self.norm = feed_forward(), nn.LayerNorm(WIDTH)

    def forward(self, x):
        x = x + 0.5 * self.first(x)
        x = x + self.attention(x)
        x = x + self.convolution(x)
        return self.norm(x + 0.5 * self.second(x))


class Conformer(nn.Module):
    def __init__(self, layers=12, bands=80):
        super().__init__()
        self.sample = nn.Sequential(nn.Conv2d(1, WIDTH, 3, 2), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 3, 2), nn.ReLU())
        self.into = nn.Linear(WIDTH * 19, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.head = nn.Linear(WIDTH, UNITS)

    def forward(self, frames):
        x = self.sample(frames[:, None]).transpose(1, 2).flatten(2)
        return self.head(self.blocks(self.into(x)))


torch.manual_seed(0)
model = Conformer().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)

for step in range(3):
    frames = torch.randn(12, 1203, 80, device="cuda")
    units = torch.randint(0, UNITS, (12, 300), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(frames).flatten(0, 1), units.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    print(f"step {step} loss {loss.item():.3f}")
