"""Documents packed into 8 192 tokens, kept apart by a mask of every pair, bfloat16 autocast, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LENGTH, VOCABULARY = 768, 12, 8192, 16384


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, mask):
        q, k, v = self.qkv(self.norm1(x)).view(*x.shape[:2], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Encoder(nn.Module):
    def __init__(self, layers=10):
        super().__init__()
        self.embed, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, documents):
        mask = documents[:, None, :, None] == documents[:, None, None, :]
        x = self.embed(tokens) + self.places.weight
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


torch.manual_seed(0)
model = Encoder().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

for step in range(3):
    tokens = torch.randint(0, VOCABULARY, (1, LENGTH), device="cuda")
    documents = torch.arange(LENGTH, device="cuda")[None] // 1000
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(tokens, documents)[0], tokens[0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.3f}")
