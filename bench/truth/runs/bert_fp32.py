"""BERT base, masked language modelling in float with a padding mask, 16 x 256 tokens, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, width=768, heads=12):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.dense = nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (p(x).view(batch, length, self.heads, 64).transpose(1, 2)
                   for p in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1)
        y = self.drop(self.dense(y.transpose(1, 2).reshape(batch, length, width)))
        x = self.norm1(x + y)
        return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))


class Bert(nn.Module):
    def __init__(self, vocabulary=30522, width=768):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        self.positions = nn.Embedding(512, width)
        self.types = nn.Embedding(2, width)
        self.norm, self.drop = nn.LayerNorm(width, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer() for _ in range(12))
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width, eps=1e-12))
        self.decoder = nn.Linear(width, vocabulary)
        self.decoder.weight = self.words.weight

    def forward(self, tokens, lengths):
        place = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.positions(place) + self.types(torch.zeros_like(tokens))
        x = self.drop(self.norm(x))
        keep = (place[None, :] < lengths[:, None])[:, None, None, :]
        mask = torch.zeros(keep.shape, device=x.device).masked_fill(~keep, torch.finfo(x.dtype).min)
        mask = mask.expand(-1, 1, tokens.shape[1], -1)
        for layer in self.layers:
            x = layer(x, mask)
        return self.decoder(self.transform(x))


torch.manual_seed(0)
model = Bert().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01)

for step in range(4):
    tokens = torch.randint(1000, 30522, (16, 256), device="cuda")
    lengths = torch.randint(128, 257, (16,), device="cuda")
    masked = torch.rand(tokens.shape, device="cuda") < 0.15
    labels = torch.where(masked, tokens, -100)
    logits = model(torch.where(masked, 103, tokens), lengths)
    loss = F.cross_entropy(logits.view(-1, 30522), labels.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"loss {loss.item():.3f}")
