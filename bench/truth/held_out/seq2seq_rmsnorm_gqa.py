"""Encoder and decoder in bfloat16 with RMSNorm and grouped queries, 64 000 words with label smoothing, AdamW fused."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, GROUPS, WORDS = 1024, 16, 4, 64_000


class Attention(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.size, self.causal = WIDTH // HEADS, causal
        self.q, self.out = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.kv = nn.Linear(WIDTH, 2 * GROUPS * self.size, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(self.size), nn.RMSNorm(self.size)

    def forward(self, x, memory):
        q = self.q_norm(self.q(x).unflatten(-1, (HEADS, -1))).transpose(1, 2)
        k, v = self.kv(memory).unflatten(-1, (2 * GROUPS, -1)).transpose(1, 2).chunk(2, dim=1)
        y = F.scaled_dot_product_attention(q, self.k_norm(k), v, is_causal=self.causal, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, inner=2816):
        super().__init__()
        self.into, self.out = nn.Linear(WIDTH, 2 * inner, bias=False), nn.Linear(inner, WIDTH, bias=False)

    def forward(self, x):
        gate, value = self.into(x).chunk(2, dim=-1)
        return self.out(F.gelu(gate, approximate="tanh") * value)


class Layer(nn.Module):
    def __init__(self, decodes):
        super().__init__()
        self.own, self.mlp = Attention(causal=decodes), FeedForward()
        self.cross = Attention(causal=False) if decodes else None
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(3))

    def forward(self, x, memory=None):
        y = self.norms[0](x)
        x = x + self.own(y, y)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory)
        return x + self.mlp(self.norms[2](x))


class Model(nn.Module):
    def __init__(self, layers=8):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.ModuleList(Layer(False) for _ in range(layers))
        self.decoder = nn.ModuleList(Layer(True) for _ in range(layers))
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)

    def forward(self, source, target):
        memory, x = self.embed(source), self.embed(target)
        for layer in self.encoder:
            memory = layer(memory)
        memory = self.norm1(memory)
        for layer in self.decoder:
            x = layer(x, memory)
        return F.linear(self.norm2(x), self.embed.weight)


torch.manual_seed(0)
model = Model().to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

for step in range(3):
    source = torch.randint(0, WORDS, (6, 640), device="cuda")
    target = torch.randint(0, WORDS, (6, 385), device="cuda")
    logits = model(source, target[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print("loss", loss.item())
