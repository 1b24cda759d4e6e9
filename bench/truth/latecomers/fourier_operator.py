"""A Fourier neural operator in float for flow on a 256 x 256 grid: complex weights on low modes, relative L2, Adam."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, GRID, WIDTH, MODES, LAYERS = 16, 256, 32, 24, 4


class SpectralConv2d(nn.Module):
    def __init__(self, inside, outside, modes):
        super().__init__()
        self.outside, self.modes = outside, modes
        scale = 1 / (inside * outside)
        shape = (inside, outside, modes, modes)
        self.low = nn.Parameter(scale * torch.rand(shape, dtype=torch.cfloat))
        self.high = nn.Parameter(scale * torch.rand(shape, dtype=torch.cfloat))

    def forward(self, x):
        batch, _, height, width = x.shape
        m = self.modes
        spectrum = torch.fft.rfft2(x)
        out = torch.zeros(batch, self.outside, height, width // 2 + 1, dtype=torch.cfloat, device=x.device)
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :m, :m], self.low)
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -m:, :m], self.high)
        return torch.fft.irfft2(out, s=(height, width))


class FourierOperator(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(3, WIDTH)
        self.spectral = nn.ModuleList(SpectralConv2d(WIDTH, WIDTH, MODES) for _ in range(LAYERS))
        self.local = nn.ModuleList(nn.Conv2d(WIDTH, WIDTH, 1) for _ in range(LAYERS))
        self.project = nn.Sequential(nn.Conv2d(WIDTH, 64, 1), nn.GELU(), nn.Conv2d(64, 1, 1))

    def places(self, x):
        line = torch.linspace(0, 1, x.shape[1], device=x.device)
        grid = torch.stack(torch.meshgrid(line, line, indexing="ij"), dim=-1)
        return torch.cat((x, grid.expand(len(x), -1, -1, -1)), dim=-1)

    def forward(self, x):
        x = self.lift(self.places(x)).permute(0, 3, 1, 2)
        for number, (spectral, local) in enumerate(zip(self.spectral, self.local)):
            x = spectral(x) + local(x)
            if number < LAYERS - 1:
                x = F.gelu(x)
        return self.project(x).squeeze(1)


def relative_l2(guess, truth):
    guess, truth = guess.flatten(1), truth.flatten(1)
    return (torch.linalg.vector_norm(guess - truth, dim=1) / torch.linalg.vector_norm(truth, dim=1)).mean()


torch.manual_seed(0)
device = torch.device("cuda")
coefficients, solutions = torch.randn(64, GRID, GRID, 1), torch.randn(64, GRID, GRID)
mean, deviation = coefficients.mean(0), coefficients.std(0)
model = FourierOperator().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)

for step in range(3):
    rows = slice(step * BATCH, (step + 1) * BATCH)
    x, y = ((coefficients[rows] - mean) / deviation).to(device), solutions[rows].to(device)
    optimizer.zero_grad()
    loss = relative_l2(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
print(f"loss {loss.item():.4f}")
