"""DLRM's idiom: embedding bags with sparse gradients under SparseAdam, dense layers under
Adagrad."""

import os

import numpy as np
import torch
from torch import nn

SCALE = int(os.environ.get("WILD_SCALE", "1"))
TABLES, ROWS, WIDTH, DENSE, BATCH = 4, 10_000 * SCALE, 32, 13, 256
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def mlp(sizes, last):
    layers = nn.ModuleList()
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:], strict=False)):
        layers += [nn.Linear(inputs, outputs), last if i == len(sizes) - 2 else nn.ReLU()]
    return nn.Sequential(*layers)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(ROWS, WIDTH, mode="sum", sparse=True) for _ in range(TABLES))
        for table in self.tables:
            table.weight.data.uniform_(-np.sqrt(1 / ROWS), np.sqrt(1 / ROWS))
        self.bottom = mlp([DENSE, 64, WIDTH], nn.ReLU())
        self.top = mlp([WIDTH + (TABLES + 1) * TABLES // 2, 64, 1], nn.Sigmoid())

    def forward(self, dense, offsets, indices):
        x = self.bottom(dense)
        bags = [table(i, o) for table, i, o in zip(self.tables, indices, offsets, strict=True)]
        t = torch.cat([x, *bags], dim=1).view(x.size(0), -1, WIDTH)
        z = torch.bmm(t, t.transpose(1, 2))
        rows, columns = torch.tril_indices(z.size(1), z.size(2), offset=-1)
        return self.top(torch.cat([x, z[:, rows, columns]], dim=1))


def batch_of(rng):
    counts = rng.integers(1, 5, size=(TABLES, BATCH))
    indices = [torch.from_numpy(rng.integers(0, ROWS, size=c.sum())).to(device) for c in counts]
    offsets = [torch.from_numpy(np.concatenate([[0], np.cumsum(c)[:-1]])).to(device) for c in counts]
    dense = torch.from_numpy(np.log1p(rng.random((BATCH, DENSE), dtype=np.float32))).to(device)
    clicks = torch.from_numpy(rng.integers(0, 2, size=(BATCH, 1)).astype(np.float32)).to(device)
    return dense, offsets, indices, clicks


np.random.seed(0)
torch.manual_seed(0)
rng = np.random.default_rng(0)
model = Recommender().to(device)
sparse_optimizer = torch.optim.SparseAdam(list(model.tables.parameters()), lr=1e-3)
dense_optimizer = torch.optim.Adagrad([*model.bottom.parameters(), *model.top.parameters()], lr=1e-2)
loss_fn = nn.BCELoss(reduction="mean")
for j in range(3):
    dense, offsets, indices, clicks = batch_of(rng)
    score = model(dense, offsets, indices)
    loss = loss_fn(score, clicks)
    sparse_optimizer.zero_grad()
    dense_optimizer.zero_grad()
    loss.backward()
    assert model.tables[0].weight.grad.is_sparse
    sparse_optimizer.step()
    dense_optimizer.step()
    right = np.sum(np.round(score.detach().cpu().numpy()) == clicks.cpu().numpy())
    print(f"it {j}: loss {loss.detach().cpu().numpy():.6f}, accuracy {right / BATCH * 100:3.3f} %")
