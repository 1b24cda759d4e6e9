"""A three-dimensional U-Net in float with instance norm, 2 volumes of 80 x 96 x 112, soft dice, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 4


def double(before, after):
    return nn.Sequential(
        nn.Conv3d(before, after, 3, padding=1), nn.InstanceNorm3d(after, affine=True), nn.LeakyReLU(0.01, inplace=True),
        nn.Conv3d(after, after, 3, padding=1), nn.InstanceNorm3d(after, affine=True), nn.LeakyReLU(0.01, inplace=True))


class UNet(nn.Module):
    def __init__(self, base=24, levels=3):
        super().__init__()
        widths = [base << level for level in range(levels + 1)]
        self.first = double(2, base)
        self.down = nn.ModuleList(nn.Conv3d(width, width, 3, 2, 1) for width in widths[:-1])
        self.into = nn.ModuleList(double(a, b) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose3d(b, a, 2, 2) for a, b in reversed([*zip(widths, widths[1:])]))
        self.merge = nn.ModuleList(double(2 * a, a) for a in reversed(widths[:-1]))
        self.last = nn.Conv3d(base, CLASSES, 1)

    def forward(self, x):
        x, kept = self.first(x), []
        for down, into in zip(self.down, self.into):
            kept.append(x)
            x = into(down(x))
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat((up(x), kept.pop()), dim=1))
        return self.last(x)


def soft_dice(logits, labels):
    p = logits.softmax(1).flatten(2)
    wanted = torch.zeros_like(p).scatter_(1, labels.flatten(1)[:, None], 1.0)
    both = (p * wanted).sum(-1)
    return 1 - ((2 * both + 1) / (p.sum(-1) + wanted.sum(-1) + 1)).mean()


torch.manual_seed(0)
net = UNet().to("cuda")
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4)

for step in range(3):
    volumes = torch.randn(2, 2, 80, 96, 112, device="cuda")
    labels = torch.randint(0, CLASSES, (2, 80, 96, 112), device="cuda")
    optimizer.zero_grad()
    logits = net(volumes)
    loss = F.cross_entropy(logits, labels) + soft_dice(logits, labels)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 12.0)
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
