"""GPT-2 with 124 million parameters in float, 8 x 512 tokens, AdamW."""

import torch
from models.gpt import GPT

torch.manual_seed(0)
device = "cuda"
model = GPT().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

for step in range(4):
    tokens = torch.randint(0, 50257, (8, 513), device=device)
    loss = model(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step} loss {loss.item():.4f}")
