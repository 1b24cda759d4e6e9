"""Documents of many lengths in one jagged nested tensor, through causal transformer blocks in bfloat16, AdamW."""

import random

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS, LAYERS, LONGEST, DOCUMENTS = 32000, 768, 12, 8, 1024, 12


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        q, k, v = (part(x).unflatten(-1, [HEADS, WIDTH // HEADS]).transpose(1, 2) for part in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids, places):
        x = self.words(ids) + self.places(places)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def nested(documents):
    return torch.nested.nested_tensor(documents, layout=torch.jagged, device="cuda")


torch.manual_seed(0)
chance = random.Random(0)
model = Reader().to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)

for step in range(3):
    lengths = [chance.randint(32, LONGEST) for _ in range(DOCUMENTS)]
    documents = [torch.randint(0, WORDS, (length + 1,)) for length in lengths]
    ids, targets = nested([each[:-1] for each in documents]), torch.cat([each[1:] for each in documents]).cuda()
    places = torch.cat([torch.arange(length) for length in lengths]).cuda()
    places = torch.nested.nested_tensor_from_jagged(places, ids.offsets())
    loss = F.cross_entropy(model(ids, places).values().float(), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
