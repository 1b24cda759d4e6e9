"""One sequence of 16 384 tokens in bfloat16 through causal attention, Adafactor."""

import torch
import torch.nn.functional as F
from models.llama import Llama

torch.manual_seed(0)
model = Llama(vocabulary=8192, width=1024, layers=12, heads=8, inner=2816).to("cuda", torch.bfloat16)
optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3)

for step in range(3):
    tokens = torch.randint(0, 8192, (1, 16384), device="cuda")
    logits = model(tokens)
    loss = F.cross_entropy(logits[0, :-1], tokens[0, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
