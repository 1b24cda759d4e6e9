"""A generator with modulated convolutions and a critic under a gradient penalty, in float, two optimizers, Adam."""

import torch
import torch.nn.functional as F
from torch import nn

STYLE = 256


class Modulated(nn.Module):
    def __init__(self, before, after, kernel=3, demodulate=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(after, before, kernel, kernel) / (before * kernel**2) ** 0.5)
        self.scale, self.demodulate = nn.Linear(STYLE, before), demodulate

    def forward(self, x, style):
        batch, before, height, width = x.shape
        weight = self.weight * (1 + self.scale(style))[:, None, :, None, None]
        if self.demodulate:
            weight = weight * torch.rsqrt(weight.square().sum((2, 3, 4), keepdim=True) + 1e-8)
        y = F.conv2d(x.reshape(1, -1, height, width), weight.flatten(0, 1), padding=weight.shape[-1] // 2, groups=batch)
        return y.view(batch, -1, height, width)


class Generator(nn.Module):
    def __init__(self, widths=(384, 384, 256, 128, 64)):
        super().__init__()
        self.map = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(STYLE, STYLE), nn.LeakyReLU(0.2))))
        self.start = nn.Parameter(torch.randn(1, widths[0], 8, 8))
        self.convs = nn.ModuleList(Modulated(a, b) for a, b in zip(widths, widths[1:]))
        self.noise = nn.Parameter(torch.zeros(len(widths) - 1))
        self.colours = Modulated(widths[-1], 3, 1, demodulate=False)

    def forward(self, z):
        style, x = self.map(z), self.start.expand(z.shape[0], -1, -1, -1)
        for number, conv in enumerate(self.convs):
            x = conv(F.interpolate(x, scale_factor=2, mode="bilinear"), style)
            x = F.leaky_relu(x + self.noise[number] * torch.randn_like(x[:, :1]), 0.2)
        return self.colours(x, style)


def critic(widths=(3, 64, 128, 256, 384)):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.LeakyReLU(0.2), nn.AvgPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(widths[-1] * 64, 1))


torch.manual_seed(0)
make, judge = Generator().cuda(), critic().cuda()
make_optimizer = torch.optim.Adam(make.parameters(), lr=1e-3, betas=(0.0, 0.99))
judge_optimizer = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.0, 0.99))

for step in range(3):
    real = torch.rand(24, 3, 128, 128, device="cuda", requires_grad=True)
    fake = make(torch.randn(24, STYLE, device="cuda"))
    of_real = judge(real)
    (slope,) = torch.autograd.grad(of_real.sum(), real, create_graph=True)
    penalty = slope.square().sum((1, 2, 3)).mean()
    loss_judge = F.softplus(-of_real).mean() + F.softplus(judge(fake.detach())).mean() + 5.0 * penalty
    judge_optimizer.zero_grad()
    loss_judge.backward()
    judge_optimizer.step()

    make_optimizer.zero_grad()
    loss_make = F.softplus(-judge(fake)).mean()
    loss_make.backward()
    make_optimizer.step()
    print(f"{step} critic {loss_judge.item():.3f} generator {loss_make.item():.3f}")
