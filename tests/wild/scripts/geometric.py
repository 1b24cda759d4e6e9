"""PyTorch Geometric's idiom: a sparse adjacency matrix, messages by index_add, masks of train,
val and test."""

import torch
import torch.nn.functional as F
from torch import nn

NODES, EDGES, FEATURES, HIDDEN, CLASSES = 2000, 10_000, 500, 64, 7
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class GCNConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin, self.bias = nn.Linear(inputs, outputs, bias=False), nn.Parameter(torch.zeros(outputs))

    def forward(self, x, adjacency):
        return torch.sparse.mm(adjacency, self.lin(x)) + self.bias


class SAGEConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.other = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edge_index):
        source, target = edge_index
        total = torch.zeros_like(x).index_add_(0, target, x[source])
        degree = torch.zeros(x.size(0), device=x.device).scatter_add_(
            0, target, torch.ones(target.size(0), device=x.device))
        return self.own(x) + self.other(total / degree.clamp(min=1)[:, None])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(FEATURES, HIDDEN), SAGEConv(HIDDEN, CLASSES)

    def forward(self, x, edge_index, adjacency):
        x = F.dropout(F.relu(self.conv1(x, adjacency)), p=0.5, training=self.training)
        return F.log_softmax(self.conv2(x, edge_index), dim=1)


def normalized(edge_index):
    loops = torch.arange(NODES).repeat(2, 1)
    index = torch.cat([edge_index, loops], dim=1).unique(dim=1)
    degree = torch.bincount(index[0], minlength=NODES).float()
    weight = degree[index[0]].rsqrt() * degree[index[1]].rsqrt()
    return torch.sparse_coo_tensor(index, weight, (NODES, NODES)).coalesce()


torch.manual_seed(0)
edge_index = torch.randint(NODES, (2, EDGES))
x, y = torch.rand(NODES, FEATURES).to(device), torch.randint(CLASSES, (NODES,)).to(device)
shuffled = torch.randperm(NODES)
masks = torch.zeros(3, NODES, dtype=torch.bool)
for mask, rows in zip(masks, shuffled.split([1400, 300, 300]), strict=True):
    mask[rows] = True
train_mask, val_mask, test_mask = masks.to(device)
adjacency, edge_index = normalized(edge_index).to(device), edge_index.to(device)
model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


@torch.no_grad()
def test():
    model.eval()
    pred = model(x, edge_index, adjacency).argmax(dim=-1)
    return [int((pred[m] == y[m]).sum()) / int(m.sum()) for m in (train_mask, val_mask, test_mask)]


best = 0.0
for epoch in range(1, 4):
    model.train()
    optimizer.zero_grad()
    out = model(x, edge_index, adjacency)
    assert out[train_mask].shape == (1400, CLASSES)
    loss = F.nll_loss(out[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    train_acc, val_acc, test_acc = test()
    best = max(best, val_acc)
    print(f"epoch {epoch}: loss {float(loss):.4f}, right of train {train_acc:.3f}, of val {best:.3f} "
          f"at best, of test {test_acc:.3f}")
