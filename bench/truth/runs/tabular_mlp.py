"""A wide net over 65 536 rows of a table in float: batch norm, dropout, SGD with momentum without foreach."""

import torch
import torch.nn.functional as F
from torch import nn


def layer(before, after):
    return nn.Sequential(nn.Linear(before, after), nn.BatchNorm1d(after), nn.ReLU(), nn.Dropout(0.3))


torch.manual_seed(0)
device = torch.device("cuda")
data = torch.utils.data.TensorDataset(torch.randn(4 * 65536, 117), torch.randn(4 * 65536))
loader = torch.utils.data.DataLoader(data, batch_size=65536, shuffle=True)
model = nn.Sequential(layer(117, 1500), layer(1500, 1500), layer(1500, 700), nn.Linear(700, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)

total = 0.0
for rows, values in loader:
    rows, values = rows.to(device), values.to(device)
    optimizer.zero_grad()
    loss = F.huber_loss(model(rows).squeeze(1), values)
    loss.backward()
    optimizer.step()
    total += loss.item()
print("mean loss", total / len(loader))
