"""A decoder whose every size is a multiple of nothing, float, gradient accumulation, AdamW without foreach."""

import torch
from models.gpt import GPT

torch.manual_seed(0)
model = GPT(vocabulary=20011, positions=401, width=806, layers=11, heads=13, dropout=0.07).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=False)

for step in range(3):
    for length in (397, 331, 211):
        tokens = torch.randint(0, 20011, (7, length + 1), device="cuda")
        loss = model(tokens[:, :-1], tokens[:, 1:]) / 3
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    print(f"step {step} loss {3 * loss.item():.3f}")
