"""litgpt's idiom: a model born on `meta`, `to_empty` on the GPU, initialised there, in bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH, LAYERS, HEADS, LENGTH, BATCH = 512, 128, 3, 4, 64, 4
INNER = 352
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight

    def reset_parameters(self):
        nn.init.ones_(self.weight)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = RMSNorm(), RMSNorm()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(WIDTH, INNER, bias=False)
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm_1(x)).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, WIDTH))
        z = self.norm_2(x)
        return x + self.down(F.silu(self.gate(z)) * self.up(z))


def rotate(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return (x * cos + torch.cat((-second, first), dim=-1) * sin).type_as(x)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, WIDTH)
        self.h = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f, self.lm_head = RMSNorm(), nn.Linear(WIDTH, VOCAB, bias=False)
        self.register_buffer("cos", torch.empty(LENGTH, WIDTH // HEADS), persistent=False)
        self.register_buffer("sin", torch.empty(LENGTH, WIDTH // HEADS), persistent=False)

    def reset_parameters(self):
        size = WIDTH // HEADS
        theta = 1.0 / 10_000 ** (torch.arange(0, size, 2, device=self.cos.device).float() / size)
        angles = torch.outer(torch.arange(LENGTH, device=self.cos.device), theta).repeat(1, 2)
        self.cos.copy_(angles.cos())
        self.sin.copy_(angles.sin())

    def forward(self, idx):
        x = self.wte(idx)
        for block in self.h:
            x = block(x, self.cos, self.sin)
        return self.lm_head(self.ln_f(x))


torch.manual_seed(0)
with torch.device("meta"):
    model = GPT()
assert all(p.is_meta for p in model.parameters())
model.to_empty(device=device)
for module in model.modules():
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
if device.type == "cuda":
    model.to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.1, betas=(0.9, 0.95))
corpus = torch.randint(VOCAB, (3, BATCH, LENGTH + 1))
for step, rows in enumerate(corpus):
    ids, targets = rows[:, :-1].to(device), rows[:, 1:].to(device)
    logits = model(ids)
    pairs = zip(logits.split(16, dim=1), targets.split(16, dim=1), strict=True)
    loss = sum(F.cross_entropy(part.reshape(-1, VOCAB).float(), goal.reshape(-1))
               for part, goal in pairs) / (LENGTH // 16)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.4f}")
