"""Classification of point clouds in float: nearest neighbours by topk, gather, 1 x 1 convolutions, Adam."""

import torch
import torch.nn.functional as F
from torch import nn

NEIGHBOURS = 20


def edges(x):
    """Each point beside its nearest ones: batch, channels of both, points, neighbours."""
    batch, channels, points = x.shape
    with torch.no_grad():
        distance = torch.cdist(x.transpose(1, 2), x.transpose(1, 2))
        nearest = distance.topk(NEIGHBOURS, dim=-1, largest=False).indices
    index = nearest.view(batch, 1, -1).expand(-1, channels, -1)
    others = torch.gather(x, 2, index).view(batch, channels, points, NEIGHBOURS)
    own = x[..., None].expand(-1, -1, -1, NEIGHBOURS)
    return torch.cat((others - own, own), dim=1)


class PointNet(nn.Module):
    def __init__(self, widths=(3, 64, 64, 128, 256), classes=40):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Conv2d(2 * before, after, 1, bias=False), nn.BatchNorm2d(after), nn.LeakyReLU(0.2))
            for before, after in zip(widths, widths[1:]))
        self.join = nn.Sequential(nn.Conv1d(sum(widths[1:]), 1024, 1, bias=False), nn.BatchNorm1d(1024))
        self.head = nn.Sequential(nn.Linear(2048, 512), nn.BatchNorm1d(512), nn.LeakyReLU(0.2), nn.Dropout(0.5),
                                  nn.Linear(512, classes))

    def forward(self, x):
        maps = []
        for layer in self.layers:
            x = layer(edges(x)).amax(dim=-1)
            maps.append(x)
        x = F.leaky_relu(self.join(torch.cat(maps, dim=1)), 0.2)
        return self.head(torch.cat((F.adaptive_max_pool1d(x, 1), F.adaptive_avg_pool1d(x, 1)), dim=1).flatten(1))


torch.manual_seed(0)
model = PointNet().to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)

for step in range(3):
    clouds = torch.randn(24, 3, 1024, device="cuda")
    labels = torch.randint(0, 40, (24,), device="cuda")
    output = model(clouds)
    loss = F.cross_entropy(output, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    _, best = torch.sort(output, dim=1, descending=True)
    print(f"{step} {loss.item():.4f} {(best[:, 0] == labels).float().mean().item():.3f}")
