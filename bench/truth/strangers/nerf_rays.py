"""A radiance field in float: coarse and fine samples along 2 048 rays, searchsorted, two nets of eight layers, Adam."""

import torch
import torch.nn.functional as F
from torch import nn

RAYS, COARSE, FINE = 2048, 64, 128


def encode(x, bands):
    parts = [x]
    for band in range(bands):
        parts += [torch.sin(x * 2.0**band), torch.cos(x * 2.0**band)]
    return torch.cat(parts, -1)


class Field(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        inside, seen = 3 + 3 * 2 * 10, 3 + 3 * 2 * 4
        self.layers = nn.ModuleList([nn.Linear(inside, width)] + [
            nn.Linear(width + inside if number == 4 else width, width) for number in range(7)])
        self.features, self.density = nn.Linear(width, width), nn.Linear(width, 1)
        self.views, self.rgb = nn.Linear(width + seen, width // 2), nn.Linear(width // 2, 3)

    def forward(self, points, views):
        here, views = encode(points, 10), encode(views, 4)
        hidden = here
        for number, layer in enumerate(self.layers):
            hidden = F.relu(layer(hidden))
            if number == 4:
                hidden = torch.cat([here, hidden], -1)
        views = torch.cat([self.features(hidden), views], -1)
        return torch.cat([self.rgb(F.relu(self.views(views))), self.density(hidden)], -1)


def render(raw, depths, directions):
    gaps = torch.cat([depths[..., 1:] - depths[..., :-1], torch.full_like(depths[..., :1], 1e10)], -1)
    gaps = gaps * torch.norm(directions[..., None, :], dim=-1)
    alpha = 1.0 - torch.exp(-F.relu(raw[..., 3] + torch.randn(raw[..., 3].shape, device=raw.device)) * gaps)
    clear = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * clear
    return torch.sum(weights[..., None] * torch.sigmoid(raw[..., :3]), -2), weights


def finer(middles, weights, count):
    share = (weights + 1e-5) / torch.sum(weights + 1e-5, -1, keepdim=True)
    sums = torch.cat([torch.zeros_like(share[..., :1]), torch.cumsum(share, -1)], -1)
    at = torch.rand([*sums.shape[:-1], count], device=sums.device).contiguous()
    after = torch.searchsorted(sums, at, right=True)
    pair = torch.stack([(after - 1).clamp(min=0), after.clamp(max=sums.shape[-1] - 1)], -1)
    shape = [pair.shape[0], pair.shape[1], sums.shape[-1]]
    low = torch.gather(sums.unsqueeze(1).expand(shape), 2, pair)
    near = torch.gather(middles.unsqueeze(1).expand(shape), 2, pair)
    wide = low[..., 1] - low[..., 0]
    wide = torch.where(wide < 1e-5, torch.ones_like(wide), wide)
    return near[..., 0] + (at - low[..., 0]) / wide * (near[..., 1] - near[..., 0])


torch.manual_seed(0)
torch.set_default_device("cuda")
coarse, fine = Field(), Field()
optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()], lr=5e-4, betas=(0.9, 0.999))

for step in range(3):
    origins, directions, colours = torch.zeros(RAYS, 3), torch.randn(RAYS, 3), torch.rand(RAYS, 3)
    views = directions / torch.norm(directions, dim=-1, keepdim=True)
    depths = torch.linspace(2.0, 6.0, COARSE).expand(RAYS, COARSE)
    points = origins[:, None] + directions[:, None] * depths[..., None]
    rgb, weights = render(coarse(points, views[:, None].expand_as(points)), depths, directions)
    middles = 0.5 * (depths[..., 1:] + depths[..., :-1])
    more = finer(middles, weights[..., 1:-1], FINE).detach()
    depths, _ = torch.sort(torch.cat([depths, more], -1), -1)
    points = origins[:, None] + directions[:, None] * depths[..., None]
    finest, _ = render(fine(points, views[:, None].expand_as(points)), depths, directions)
    loss = F.mse_loss(finest, colours) + F.mse_loss(rgb, colours)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for group in optimizer.param_groups:
        group["lr"] = 5e-4 * 0.1 ** (step / 250000)
    print(f"step {step}: {loss.item():.4f}")
