"""A graph convolution net in float: a sparse adjacency of 2 million edges times dense features, dropout, Adam."""

import torch
import torch.nn.functional as F
from torch import nn

NODES, EDGES, FEATURES, CLASSES = 120_000, 2_000_000, 512, 40


class GraphConvolution(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(before, after))
        self.bias = nn.Parameter(torch.empty(after))
        bound = after**-0.5
        self.weight.data.uniform_(-bound, bound)
        self.bias.data.uniform_(-bound, bound)

    def forward(self, x, adjacency):
        return torch.spmm(adjacency, torch.mm(x, self.weight)) + self.bias


class GCN(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(FEATURES, hidden), GraphConvolution(hidden, hidden)
        self.gc3 = GraphConvolution(hidden, CLASSES)

    def forward(self, x, adjacency):
        x = F.dropout(F.relu(self.gc1(x, adjacency)), 0.5, training=self.training)
        x = F.dropout(F.relu(self.gc2(x, adjacency)), 0.5, training=self.training)
        return F.log_softmax(self.gc3(x, adjacency), dim=1)


torch.manual_seed(42)
ends = torch.randint(0, NODES, (2, EDGES))
adjacency = torch.sparse_coo_tensor(ends, torch.full((EDGES,), 0.06), (NODES, NODES)).coalesce()
features, labels = torch.rand(NODES, FEATURES), torch.randint(0, CLASSES, (NODES,))
train, valid = torch.arange(0, 60_000), torch.arange(60_000, 80_000)
model = GCN().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
adjacency, features, labels, train, valid = (each.cuda() for each in (adjacency, features, labels, train, valid))

for epoch in range(3):
    model.train()
    optimizer.zero_grad()
    output = model(features, adjacency)
    loss = F.nll_loss(output[train], labels[train])
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        output = model(features, adjacency)
    right = output[valid].max(1)[1].type_as(labels).eq(labels[valid]).double().sum()
    print(f"epoch {epoch}: loss {loss.item():.4f}, right {right.item() / len(valid):.4f}")
