"""Message passing on a graph of 50 000 nodes and 800 000 edges in float: gather, index_add, scatter_add, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

NODES, EDGES, WIDTH, HEADS = 50_000, 800_000, 128, 4


class MeanLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.update = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, source, target, degree):
        messages = self.message(torch.cat((x[source], x[target]), dim=-1))
        gathered = torch.zeros_like(x).index_add_(0, target, messages) / degree
        return x + F.relu(self.update(torch.cat((x, gathered), dim=-1)))


class AttentionLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, WIDTH, bias=False)
        self.left, self.right = nn.Parameter(torch.randn(WIDTH)), nn.Parameter(torch.randn(WIDTH))

    def forward(self, x, source, target, degree):
        h = self.project(x)
        left, right = ((h * w).view(-1, HEADS, WIDTH // HEADS).sum(-1) for w in (self.left, self.right))
        weights = F.leaky_relu(left[source] + right[target], 0.2).clamp(max=10).exp()
        where = target[:, None].expand(-1, HEADS)
        total = torch.zeros(NODES, HEADS, device=x.device).scatter_add(0, where, weights)
        weights = weights / (total[target] + 1e-9)
        parts = h.view(-1, HEADS, WIDTH // HEADS)[source] * weights[..., None]
        out = torch.zeros(NODES, HEADS, WIDTH // HEADS, device=x.device).index_add(0, target, parts)
        return x + F.elu(out.flatten(1))


torch.manual_seed(0)
device = "cuda"
layers = nn.ModuleList([MeanLayer(), AttentionLayer(), MeanLayer()]).to(device)
first, head = nn.Linear(100, WIDTH).to(device), nn.Linear(WIDTH, 47).to(device)
optimizer = torch.optim.AdamW([*first.parameters(), *layers.parameters(), *head.parameters()], lr=1e-3)
features = torch.randn(NODES, 100, device=device)
labels = torch.randint(0, 47, (NODES,), device=device)
source, target = torch.randint(0, NODES, (2, EDGES), device=device)
degree = torch.bincount(target, minlength=NODES).clamp(min=1)[:, None].float()

for epoch in range(4):
    x = F.relu(first(features))
    for layer in layers:
        x = F.dropout(layer(x, source, target, degree), 0.1)
    loss = F.cross_entropy(head(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
