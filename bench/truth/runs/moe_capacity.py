"""A mixture of experts in bfloat16 whose experts choose their tokens, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, INNER, HEADS, EXPERTS, LAYERS = 16000, 1024, 2816, 16, 8, 6


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, INNER) * 0.02)
        self.down = nn.Parameter(torch.randn(EXPERTS, INNER, WIDTH) * 0.02)

    def forward(self, x):
        flat = x.reshape(-1, WIDTH)
        scores = self.router(flat).float().softmax(-1)
        gates, chosen = scores.t().topk(2 * flat.shape[0] // EXPERTS, dim=1)
        inputs = flat[chosen.reshape(-1)].view(EXPERTS, -1, WIDTH)
        outputs = torch.bmm(F.gelu(torch.bmm(inputs, self.up)), self.down)
        outputs = outputs * gates.unsqueeze(-1).to(outputs.dtype)
        mixed = torch.zeros_like(flat).index_add(0, chosen.reshape(-1), outputs.reshape(-1, WIDTH))
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
                      nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)).to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(4):
    tokens = torch.randint(0, VOCABULARY, (8, 1025), device="cuda")
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
