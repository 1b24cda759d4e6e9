"""A generator and a critic in float with an optimizer each: transposed convolutions, spectral norm, Adam."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm


def generator(noise=128, base=96):
    widths = (base * 8, base * 8, base * 4, base * 2, base)
    layers = [nn.ConvTranspose2d(noise, widths[0], 4, 1, 0, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU(True)]
    for before, after in zip(widths, widths[1:]):
        layers += [nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(True)]
    return nn.Sequential(*layers, nn.ConvTranspose2d(base, 3, 4, 2, 1), nn.Tanh())


def critic(base=96):
    widths, layers = (3, base, base * 2, base * 4, base * 8, base * 8), []
    for before, after in zip(widths, widths[1:]):
        layers += [spectral_norm(nn.Conv2d(before, after, 4, 2, 1)), nn.LeakyReLU(0.2, inplace=True)]
    return nn.Sequential(*layers, nn.Conv2d(widths[-1], 1, 4), nn.Flatten(0))


torch.manual_seed(0)
make, judge = generator().to("cuda"), critic().to("cuda")
make_optimizer = torch.optim.Adam(make.parameters(), lr=2e-4, betas=(0.5, 0.999))
judge_optimizer = torch.optim.Adam(judge.parameters(), lr=2e-4, betas=(0.5, 0.999))

for step in range(4):
    real = torch.rand(96, 3, 128, 128, device="cuda") * 2 - 1
    fake = make(torch.randn(96, 128, 1, 1, device="cuda"))

    judge_optimizer.zero_grad()
    loss_judge = F.relu(1 - judge(real)).mean() + F.relu(1 + judge(fake.detach())).mean()
    loss_judge.backward()
    judge_optimizer.step()

    make_optimizer.zero_grad()
    loss_make = -judge(fake).mean()
    loss_make.backward()
    make_optimizer.step()
    print(f"{step} critic {loss_judge.item():.3f} generator {loss_make.item():.3f}")
