"""A small training loop for docs/verdicts.md. The same, with a mistake in it."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4000, 16384), nn.GELU(), nn.Linear(16384, 4096)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(100):
    loss = model(torch.randn(2048, 4096, device="cuda")).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
