"""Text generation in bfloat16 without training: a prompt, then 48 words one by one with a cache that grows by cat, top-k."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LAYERS, WORDS = 2048, 16, 16, 32000


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        wide = x.to(torch.float32)
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(), RMSNorm()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(WIDTH, 5632, bias=False) for _ in range(2))
        self.down = nn.Linear(5632, WIDTH, bias=False)

    def forward(self, x, past):
        batch, length, _ = x.shape
        y = self.norm1(x)
        q, k, v = (part(y).view(batch, length, HEADS, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, WIDTH))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), (k, v)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.layers, self.norm = nn.ModuleList(Layer() for _ in range(LAYERS)), RMSNorm()
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids, cache):
        x, new = self.embed(ids), []
        for number, layer in enumerate(self.layers):
            x, kept = layer(x, cache[number] if cache else None)
            new.append(kept)
        return self.head(self.norm(x)), new


torch.manual_seed(0)
torch.set_default_dtype(torch.bfloat16)
model = Model().to("cuda").eval()
torch.set_default_dtype(torch.float32)
ids = torch.randint(0, WORDS, (16, 480), device="cuda")

with torch.inference_mode():
    logits, cache = model(ids, None)
    for _ in range(48):
        last = logits[:, -1, :] / 0.8
        kept, _ = torch.topk(last, 50)
        last[last < kept[:, [-1]]] = -float("inf")
        following = torch.multinomial(F.softmax(last.float(), dim=-1), num_samples=1)
        ids = torch.cat((ids, following), dim=1)
        logits, cache = model(following, cache)
print(ids.shape, ids[0, -4:].tolist())
