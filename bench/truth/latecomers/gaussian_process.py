"""Exact Gaussian process regression in double: learned features, RBF and linear kernels, Cholesky factors, Adam."""

import math

import torch
import torch.nn.functional as F
from torch import nn

POINTS, TESTS, FEATURES, LATENT = 6000, 2000, 64, 8


class DeepGP(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Linear(FEATURES, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, LATENT)
        )
        self.raw_scale, self.raw_linear = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
        self.raw_length = nn.Parameter(torch.zeros(LATENT))
        self.raw_noise = nn.Parameter(torch.tensor(-2.0))
        self.mean = nn.Parameter(torch.zeros(()))

    def kernel(self, a, b):
        length = F.softplus(self.raw_length)
        left, right = a / length, b / length
        squares = left.square().sum(1, keepdim=True) + right.square().sum(1) - 2 * left @ right.mT
        rbf = F.softplus(self.raw_scale) * torch.exp(-0.5 * squares.clamp_min(0))
        return rbf + F.softplus(self.raw_linear) * (a @ b.mT)

    def factor(self, z):
        noise = F.softplus(self.raw_noise) + 1e-4
        covariance = self.kernel(z, z) + noise * torch.eye(len(z), device=z.device)
        return torch.linalg.cholesky(covariance)

    def negative_log_likelihood(self, x, y):
        factor = self.factor(self.features(x))
        gap = (y - self.mean).unsqueeze(1)
        fit = (gap * torch.cholesky_solve(gap, factor)).sum()
        logdet = 2 * factor.diagonal().log().sum()
        return 0.5 * (fit + logdet + len(y) * math.log(2 * math.pi)) / len(y)

    @torch.no_grad()
    def predict(self, x, y, new):
        z, z_new = self.features(x), self.features(new)
        factor, across = self.factor(z), self.kernel(z, z_new)
        weights = torch.cholesky_solve((y - self.mean).unsqueeze(1), factor)
        mean = self.mean + (across.mT @ weights).squeeze(1)
        half = torch.linalg.solve_triangular(factor, across, upper=False)
        own = F.softplus(self.raw_scale) + F.softplus(self.raw_linear) * z_new.square().sum(1)
        return mean, own - half.square().sum(0)


torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
inputs = torch.randn(POINTS + TESTS, FEATURES)
values = torch.sin(inputs[:, :8].sum(1)) + 0.1 * torch.randn(POINTS + TESTS)
x, new = inputs[:POINTS].cuda(), inputs[POINTS:].cuda()
y, new_y = values[:POINTS].cuda(), values[POINTS:].cuda()
model = DeepGP().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for step in range(3):
    optimizer.zero_grad()
    loss = model.negative_log_likelihood(x, y)
    loss.backward()
    optimizer.step()
mean, variance = model.predict(x, y, new)
error = (mean - new_y).square().mean().sqrt()
print(f"loss {loss.item():.4f}, test error {error.item():.4f}, mean variance {variance.mean().item():.4f}")
