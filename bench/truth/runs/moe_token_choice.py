"""A mixture of experts under bfloat16 autocast whose tokens choose two experts each, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, INNER, HEADS, EXPERTS, LAYERS = 16000, 1024, 2816, 16, 8, 6


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH)) for _ in range(EXPERTS))

    def forward(self, x):
        flat = x.reshape(-1, WIDTH)
        gates, chosen = self.router(flat).float().softmax(-1).topk(2, dim=-1)
        gates = (gates / gates.sum(-1, keepdim=True)).to(flat.dtype)
        mixed = torch.zeros_like(flat)
        for index, expert in enumerate(self.experts):
            rows, slots = torch.where(chosen == index)
            outputs = expert(flat[rows]) * gates[rows, slots, None]
            mixed.index_add_(0, rows, outputs.to(mixed.dtype))
        return mixed.view_as(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.experts = Experts()

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.experts(self.norm2(x))


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), *(Block() for _ in range(LAYERS)),
                      nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(4):
    tokens = torch.randint(0, VOCABULARY, (8, 513), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
