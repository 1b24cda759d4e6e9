"""A diffusion model under bfloat16 autocast: U-shaped net with group norm and attention, moving average, AdamW."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, before, after, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, before), nn.Conv2d(before, after, 3, padding=1)
        self.time = nn.Linear(time, after)
        self.norm2, self.conv2 = nn.GroupNorm(32, after), nn.Conv2d(after, after, 3, padding=1)
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.dropout(F.silu(self.norm2(y)), 0.1, self.training))


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.GroupNorm(32, width)
        self.qkv, self.out = nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x):
        batch, width, height, across = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, 3, width // 64, 64, -1).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(-1, -2).reshape(batch, width, height, across))


class Net(nn.Module):
    def __init__(self, base=128, factors=(1, 2, 2, 4)):
        super().__init__()
        time, width, kept = 4 * base, base, [base]
        self.time = nn.Sequential(nn.Linear(base, time), nn.SiLU(), nn.Linear(time, time))
        self.first, self.down, self.up = nn.Conv2d(3, base, 3, padding=1), nn.ModuleList(), nn.ModuleList()
        for level, factor in enumerate(factors):
            for _ in range(2):
                attends = Attention(base * factor) if level >= 2 else nn.Identity()
                self.down.append(nn.ModuleList([Residual(width, base * factor, time), attends]))
                width = base * factor
                kept.append(width)
            if level < len(factors) - 1:
                self.down.append(nn.ModuleList([nn.Conv2d(width, width, 3, 2, 1)]))
                kept.append(width)
        self.middle = nn.ModuleList([Residual(width, width, time), Attention(width), Residual(width, width, time)])
        for level, factor in reversed(list(enumerate(factors))):
            for _ in range(3):
                attends = Attention(base * factor) if level >= 2 else nn.Identity()
                self.up.append(nn.ModuleList([Residual(width + kept.pop(), base * factor, time), attends]))
                width = base * factor
            if level:
                self.up.append(nn.ModuleList([nn.Conv2d(width, width, 3, padding=1)]))
        self.norm, self.last = nn.GroupNorm(32, width), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, t):
        angles = t[:, None] * torch.exp(-math.log(10000) * torch.arange(64, device=t.device) / 64)
        time = self.time(torch.cat((angles.cos(), angles.sin()), dim=-1))
        x = self.first(x)
        kept = [x]
        for layer in self.down:
            x = layer[1](layer[0](x, time)) if len(layer) == 2 else layer[0](x)
            kept.append(x)
        x = self.middle[2](self.middle[1](self.middle[0](x, time)), time)
        for layer in self.up:
            if len(layer) == 2:
                x = layer[1](layer[0](torch.cat((x, kept.pop()), dim=1), time))
            else:
                x = layer[0](F.interpolate(x, scale_factor=2, mode="nearest"))
        return self.last(F.silu(self.norm(x)))


torch.manual_seed(0)
net = Net().to("cuda")
average = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000, device="cuda"), 0)

for step in range(3):
    images = torch.rand(32, 3, 64, 64, device="cuda") * 2 - 1
    t, noise = torch.randint(0, 1000, (32,), device="cuda"), torch.randn_like(images)
    keep = alphas[t][:, None, None, None]
    with torch.autocast("cuda", dtype=torch.bfloat16):
        guess = net(keep.sqrt() * images + (1 - keep).sqrt() * noise, t.float())
        loss = F.mse_loss(guess.float(), noise)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), net.parameters()):
            slow.lerp_(fast, 1 - 0.999)
    print(f"step {step} loss {loss.item():.4f}")
