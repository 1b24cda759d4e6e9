"""A small training loop for docs/verdicts.md. The same, on the CPU."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 512))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    loss = model(torch.randn(2048, 512)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
