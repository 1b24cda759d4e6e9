"""A radiance field in float on multi-resolution hash tables: 16 levels, trilinear corners, a small MLP, rays, Adam."""

import torch
import torch.nn.functional as F
from torch import nn

LEVELS, LOG_SIZE, FEATURES, COARSEST, FINEST = 16, 19, 2, 16, 2048
RAYS, SAMPLES, NEAR, FAR = 4096, 64, 0.5, 3.5


class HashGrid(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.Embedding(LEVELS << LOG_SIZE, FEATURES)
        nn.init.uniform_(self.tables.weight, -1e-4, 1e-4)
        growth = (FINEST / COARSEST) ** (1 / (LEVELS - 1))
        sizes = [int(COARSEST * growth**level) for level in range(LEVELS)]
        self.register_buffer("resolution", torch.tensor(sizes, dtype=torch.float32)[:, None])
        self.register_buffer("start", (torch.arange(LEVELS) << LOG_SIZE)[:, None])
        self.register_buffer("primes", torch.tensor([1, 2654435761, 805459861]))
        self.register_buffer("corners", torch.cartesian_prod(*[torch.arange(2)] * 3))

    def forward(self, x):
        scaled = x[:, None] * self.resolution
        below = scaled.floor()
        part = (scaled - below)[:, :, None]
        hashed = (below.long()[:, :, None] + self.corners) * self.primes
        hashed = hashed[..., 0] ^ hashed[..., 1] ^ hashed[..., 2]
        rows = self.tables((hashed & ((1 << LOG_SIZE) - 1)) + self.start)
        weights = torch.where(self.corners == 1, part, 1 - part).prod(dim=-1, keepdim=True)
        return (rows * weights).sum(dim=2).flatten(1)


def harmonics(d):
    x, y, z = d.unbind(-1)
    return torch.stack([torch.ones_like(x), x, y, z, x * y, y * z, x * z, x * x - y * y, 3 * z * z - 1], dim=-1)


class Field(nn.Module):
    def __init__(self, width=64, known=15):
        super().__init__()
        self.grid = HashGrid()
        self.density = nn.Sequential(nn.Linear(LEVELS * FEATURES, width), nn.ReLU(), nn.Linear(width, 1 + known))
        self.colour = nn.Sequential(
            nn.Linear(known + 9, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3)
        )

    def forward(self, points, directions):
        hidden = self.density(self.grid(points))
        rgb = torch.sigmoid(self.colour(torch.cat([hidden[:, 1:], harmonics(directions)], dim=-1)))
        return F.softplus(hidden[:, 0] - 1), rgb


def render(field, origins, directions):
    edges = torch.linspace(NEAR, FAR, SAMPLES + 1, device=origins.device)
    depths = edges[:-1] + (edges[1:] - edges[:-1]) * torch.rand(len(origins), SAMPLES, device=origins.device)
    points = origins[:, None] + directions[:, None] * depths[..., None]
    points = ((points + 1.5) / 3).clamp(0, 1)
    sigma, rgb = field(points.view(-1, 3), directions[:, None].expand_as(points).reshape(-1, 3))
    gaps = torch.diff(depths, dim=1, append=torch.full_like(depths[:, :1], FAR + 0.1))
    alpha = 1 - torch.exp(-sigma.view_as(depths) * gaps)
    clear = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], dim=1), dim=1)[:, :-1]
    weights = alpha * clear
    return (weights[..., None] * rgb.view(*depths.shape, 3)).sum(dim=1) + 1 - weights.sum(dim=1, keepdim=True)


torch.manual_seed(0)
field = Field().to("cuda")
optimizer = torch.optim.Adam(field.parameters(), lr=1e-2, betas=(0.9, 0.99), eps=1e-15)

for step in range(3):
    origins = F.normalize(torch.randn(RAYS, 3, device="cuda"), dim=-1) * 2
    directions = F.normalize(0.3 * torch.randn(RAYS, 3, device="cuda") - origins, dim=-1)
    wanted = torch.rand(RAYS, 3, device="cuda")
    loss = F.smooth_l1_loss(render(field, origins, directions), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.5f}")
