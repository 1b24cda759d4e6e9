"""Low-rank adapters on a frozen bfloat16 Llama of 1.3 billion parameters, two batches a step, AdamW fused."""

import torch
import torch.nn.functional as F
from models.llama import Llama
from torch import nn


class Adapted(nn.Module):
    def __init__(self, base, rank=16, alpha=32):
        super().__init__()
        self.base, self.scale = base, alpha / rank
        self.drop = nn.Dropout(0.05)
        self.a = nn.Linear(base.in_features, rank, bias=False, dtype=torch.float32, device="cuda")
        self.b = nn.Linear(rank, base.out_features, bias=False, dtype=torch.float32, device="cuda")
        nn.init.zeros_(self.b.weight)

    def forward(self, x):
        return self.base(x) + self.b(self.a(self.drop(x))) * self.scale


torch.manual_seed(0)
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = Llama(layers=22)
torch.set_default_dtype(torch.float32)
model.requires_grad_(False)
for block in model.blocks:
    attention = block.attention
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        setattr(attention, name, Adapted(getattr(attention, name)))
    block.down = Adapted(block.down)

trained = [p for p in model.parameters() if p.requires_grad]
print(f"{sum(p.numel() for p in trained):,} of {sum(p.numel() for p in model.parameters()):,} are trained")
optimizer = torch.optim.AdamW(trained, lr=2e-4, fused=True)

for step in range(3):
    for _ in range(2):
        tokens = torch.randint(0, 32000, (2, 1024), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(tokens)
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), tokens[:, 1:].flatten()) / 2
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", 2 * loss.item())
