"""A recommender in float: eight large embedding tables, one EmbeddingBag of histories, AdamW without foreach."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS = (1_500_000, 1_000_000, 700_001, 300_000, 100_003, 50_000, 9_999, 101)
WIDTH, BATCH, HISTORY = 64, 16384, 30


def mlp(*widths):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, WIDTH) for rows in ROWS)
        self.history = nn.EmbeddingBag(500_000, WIDTH, mode="mean")
        self.bottom = mlp(13, 512, 256, WIDTH)
        self.top = mlp(WIDTH + 45, 1024, 1024, 512, 1)

    def forward(self, numbers, categories, seen, offsets):
        dense = self.bottom(numbers)
        parts = [dense, self.history(seen, offsets)]
        parts += [table(categories[:, n]) for n, table in enumerate(self.tables)]
        stacked = torch.stack(parts, dim=1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        rows, columns = torch.tril_indices(10, 10, offset=-1, device=dense.device)
        return self.top(torch.cat((dense, products[:, rows, columns]), dim=1)).squeeze(1)


torch.manual_seed(0)
with torch.device("cuda"):
    model = Recommender()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
offsets = torch.arange(0, BATCH * HISTORY, HISTORY, device="cuda")

for step in range(4):
    numbers = torch.rand(BATCH, 13, device="cuda")
    categories = torch.stack([torch.randint(0, rows, (BATCH,), device="cuda") for rows in ROWS], dim=1)
    seen = torch.randint(0, 500_000, (BATCH * HISTORY,), device="cuda")
    clicked = (torch.rand(BATCH, device="cuda") < 0.3).float()
    loss = F.binary_cross_entropy_with_logits(model(numbers, categories, seen, offsets), clicked)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
