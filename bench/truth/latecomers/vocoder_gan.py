"""A mel-to-wave GAN in float: transposed convolutions, period and scale discriminators, feature matching, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

BATCH, SEGMENT, MELS, HOP, WINDOW, RATE, WIDTH = 16, 8192, 80, 256, 1024, 22050, 256


def mel_filters():
    top = 2595 * torch.log10(torch.tensor(1 + RATE / 2 / 700))
    corners = 700 * (10 ** (torch.linspace(0, 1, MELS + 2) * top / 2595) - 1)
    up = (torch.linspace(0, RATE / 2, WINDOW // 2 + 1) - corners[:, None])[:-1] / corners.diff()[:, None]
    return torch.minimum(up[:-1], 1 - up[1:]).clamp(min=0)


class Mel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("filters", mel_filters())
        self.register_buffer("window", torch.hann_window(WINDOW))

    def forward(self, wave):
        wave = F.pad(wave, ((WINDOW - HOP) // 2,) * 2, mode="reflect").squeeze(1)
        spectrum = torch.stft(wave, WINDOW, HOP, window=self.window, center=False, return_complex=True)
        power = torch.view_as_real(spectrum).pow(2).sum(-1)
        return (self.filters @ torch.sqrt(power + 1e-9)).clamp(min=1e-5).log()


def conv(*args, **kwargs):
    return weight_norm(nn.Conv1d(*args, **kwargs))


class Residual(nn.Module):
    def __init__(self, width, kernel):
        super().__init__()
        half = kernel // 2
        self.wide = nn.ModuleList(conv(width, width, kernel, padding=d * half, dilation=d) for d in (1, 3, 5))
        self.near = nn.ModuleList(conv(width, width, kernel, padding=half) for _ in range(3))

    def forward(self, x):
        for wide, near in zip(self.wide, self.near):
            x = x + near(F.leaky_relu(wide(F.leaky_relu(x, 0.1)), 0.1))
        return x


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.ups, self.mixes = conv(MELS, WIDTH, 7, padding=3), nn.ModuleList(), nn.ModuleList()
        width = WIDTH
        for kernel, stride in zip((16, 16, 4, 4), (8, 8, 2, 2)):
            up = nn.ConvTranspose1d(width, width // 2, kernel, stride, (kernel - stride) // 2)
            self.ups.append(weight_norm(up))
            width //= 2
            self.mixes.append(nn.ModuleList(Residual(width, kernel) for kernel in (3, 7, 11)))
        self.last = conv(width, 1, 7, padding=3)

    def forward(self, x):
        x = self.first(x)
        for up, mix in zip(self.ups, self.mixes):
            x = up(F.leaky_relu(x, 0.1))
            x = sum(residual(x) for residual in mix) / len(mix)
        return torch.tanh(self.last(F.leaky_relu(x)))


class PeriodDiscriminator(nn.Module):
    def __init__(self, period):
        super().__init__()
        self.period, sizes = period, (1, 32, 128, 512, 1024)
        layers = [nn.Conv2d(a, b, (5, 1), (3, 1), (2, 0)) for a, b in zip(sizes, sizes[1:])]
        layers += [nn.Conv2d(1024, 1024, (5, 1), 1, (2, 0)), nn.Conv2d(1024, 1, (3, 1), 1, (1, 0))]
        self.layers = nn.ModuleList(weight_norm(layer) for layer in layers)

    def forward(self, x):
        batch, channels, length = x.shape
        x = F.pad(x, (0, -length % self.period), "reflect")
        return features(x.view(batch, channels, -1, self.period), self.layers)


class ScaleDiscriminator(nn.Module):
    def __init__(self):
        super().__init__()
        plan = ((1, 128, 15, 1, 1), (128, 128, 41, 2, 4), (128, 256, 41, 2, 16), (256, 512, 41, 4, 16))
        plan += ((512, 1024, 41, 4, 16), (1024, 1024, 41, 1, 16), (1024, 1024, 5, 1, 1), (1024, 1, 3, 1, 1))
        self.layers = nn.ModuleList(conv(a, b, k, s, k // 2, groups=groups) for a, b, k, s, groups in plan)

    def forward(self, x):
        return features(x, self.layers)


def features(x, layers):
    maps = []
    for layer in layers[:-1]:
        x = F.leaky_relu(layer(x), 0.1)
        maps.append(x)
    maps.append(layers[-1](x))
    return maps


class Discriminators(nn.Module):
    def __init__(self):
        super().__init__()
        self.periods = nn.ModuleList(PeriodDiscriminator(period) for period in (2, 3, 5, 7, 11))
        self.scales = nn.ModuleList(ScaleDiscriminator() for _ in range(3))

    def forward(self, x):
        outputs = [period(x) for period in self.periods]
        for number, scale in enumerate(self.scales):
            x = F.avg_pool1d(x, 4, 2, padding=2) if number else x
            outputs.append(scale(x))
        return outputs


torch.manual_seed(0)
device = torch.device("cuda")
generator, judges, mel = Generator().to(device), Discriminators().to(device), Mel().to(device)
g_optimizer = torch.optim.AdamW(generator.parameters(), lr=2e-4, betas=(0.8, 0.99))
d_optimizer = torch.optim.AdamW(judges.parameters(), lr=2e-4, betas=(0.8, 0.99))

for step in range(3):
    real = (torch.rand(BATCH, 1, SEGMENT) * 2 - 1).to(device, non_blocking=True)
    with torch.no_grad():
        real_mel = mel(real)
    fake = generator(real_mel)

    d_optimizer.zero_grad()
    pairs = zip(judges(real), judges(fake.detach()))
    d_loss = sum((1 - r[-1]).pow(2).mean() + f[-1].pow(2).mean() for r, f in pairs)
    d_loss.backward()
    d_optimizer.step()

    g_optimizer.zero_grad()
    real_maps, fake_maps = judges(real), judges(fake)
    g_loss = 45 * F.l1_loss(mel(fake), real_mel)
    for r, f in zip(real_maps, fake_maps):
        g_loss = g_loss + (1 - f[-1]).pow(2).mean() + 2 * sum(F.l1_loss(b, a) for a, b in zip(r[:-1], f[:-1]))
    g_loss.backward()
    g_optimizer.step()
print(f"generator {g_loss.item():.4f}, discriminators {d_loss.item():.4f}")
