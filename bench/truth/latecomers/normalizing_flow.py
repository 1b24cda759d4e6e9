"""A Glow-like flow on 64x64 images in float: actnorm, invertible 1x1 convolutions, checkpointed couplings, Adamax."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

SIDE, LEVELS, STEPS, HIDDEN, BATCH, BITS = 64, 3, 8, 512, 160, 5


class ActNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(1, channels, 1, 1))
        self.log_scale = nn.Parameter(torch.zeros(1, channels, 1, 1))

    @torch.no_grad()
    def start(self, x):
        std, mean = torch.std_mean(x, dim=(0, 2, 3), keepdim=True)
        self.shift.copy_(-mean)
        self.log_scale.copy_(-torch.log(std + 1e-6))

    def forward(self, x):
        return (x + self.shift) * self.log_scale.exp(), self.log_scale.sum() * x.size(2) * x.size(3)


class Mix(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.linalg.qr(torch.randn(channels, channels))[0])

    def forward(self, x):
        log_det = torch.slogdet(self.weight)[1] * x.size(2) * x.size(3)
        return F.conv2d(x, self.weight[:, :, None, None]), log_det


class Coupling(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(channels // 2, HIDDEN, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(HIDDEN, HIDDEN, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(HIDDEN, channels, 3, padding=1),
        )
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        kept, changed = x.chunk(2, dim=1)
        log_scale, shift = self.net(kept).chunk(2, dim=1)
        scale = torch.sigmoid(log_scale + 2)
        return torch.cat([kept, (changed + shift) * scale], dim=1), scale.log().sum(dim=(1, 2, 3))


class FlowStep(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm, self.mix, self.coupling = ActNorm(channels), Mix(channels), Coupling(channels)

    def forward(self, x):
        x, of_norm = self.norm(x)
        x, of_mix = self.mix(x)
        x, of_coupling = self.coupling(x)
        return x, of_norm + of_mix + of_coupling


class Glow(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [3 * 4 * 2**level for level in range(LEVELS)]
        self.levels = nn.ModuleList(nn.ModuleList(FlowStep(w) for _ in range(STEPS)) for w in widths)
        self.priors = nn.ModuleList(nn.Conv2d(w // 2, w, 3, padding=1) for w in widths[:-1])

    def forward(self, x, starting=False):
        log_p = x.new_zeros(len(x))
        for number, level in enumerate(self.levels):
            x = F.pixel_unshuffle(x, 2)
            for step in level:
                if starting:
                    step.norm.start(x)
                x, log_det = checkpoint(step, x, use_reentrant=False)
                log_p = log_p + log_det
            mean, log_std = torch.zeros_like(x), torch.zeros_like(x)
            out = x
            if number < LEVELS - 1:
                x, out = x.chunk(2, dim=1)
                mean, log_std = self.priors[number](x).chunk(2, dim=1)
            normal = -0.5 * math.log(2 * math.pi) - log_std - 0.5 * ((out - mean) * torch.exp(-log_std)) ** 2
            log_p = log_p + normal.sum(dim=(1, 2, 3))
        return log_p


def batch():
    images = torch.randint(0, 256, (BATCH, 3, SIDE, SIDE), device="cuda").div(2 ** (8 - BITS)).floor() / 2**BITS - 0.5
    return images + torch.rand_like(images) / 2**BITS


torch.manual_seed(0)
model = Glow().to("cuda")
with torch.no_grad():
    model(batch(), starting=True)
optimizer = torch.optim.Adamax(model.parameters(), lr=1e-3, weight_decay=5e-5)

for step in range(3):
    optimizer.zero_grad()
    loss = -model(batch()).mean() / (math.log(2) * 3 * SIDE * SIDE) + BITS
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 5)
    optimizer.step()
print(f"bits per dimension: {loss.item():.4f}")
