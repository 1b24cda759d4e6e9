"""Llama with 0.85 billion parameters in bfloat16, 4 x 1024 tokens, AdamW."""

import torch
import torch.nn.functional as F
from models.llama import Llama

torch.manual_seed(0)
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = Llama()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

for step in range(4):
    tokens = torch.randint(0, 32000, (4, 1024), device="cuda")
    optimizer.zero_grad()
    logits = model(tokens)
    loss = F.cross_entropy(logits[:, :-1].reshape(-1, 32000).float(), tokens[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
