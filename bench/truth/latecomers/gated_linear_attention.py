"""A language model in bfloat16 of gated linear attention by chunks, SwiGLU, RMSNorm, tied embeddings, fused AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS, LAYERS, LENGTH, CHUNK, BATCH = 32000, 768, 6, 8, 1024, 64, 4


def gated_attention(q, k, v, log_gate):
    batch, heads, _, key = q.shape
    state = torch.zeros(batch, heads, key, v.size(-1), device=q.device)
    causal = torch.ones(CHUNK, CHUNK, dtype=torch.bool, device=q.device).tril()
    outputs = []
    for q_c, k_c, v_c, gate_c in zip(*(each.split(CHUNK, dim=2) for each in (q, k, v, log_gate))):
        decay = gate_c.cumsum(dim=2)
        last = decay[:, :, -1:]
        q_in = (q_c * decay.exp()).type_as(v)
        k_in = (k_c * (-decay).exp()).type_as(v)
        k_out = (k_c * (last - decay).exp()).type_as(v)
        scores = torch.einsum("bhid,bhjd->bhij", q_in, k_in).masked_fill(~causal, 0)
        inside = torch.einsum("bhij,bhjv->bhiv", scores, v_c)
        across = torch.einsum("bhid,bhdv->bhiv", q_in, state.type_as(v))
        state = state * last.exp().transpose(2, 3) + torch.einsum("bhjd,bhjv->bhdv", k_out, v_c)
        outputs.append(inside + across)
    return torch.cat(outputs, dim=2)


class GatedLinearAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = (nn.Linear(WIDTH, WIDTH // 2, bias=False) for _ in range(2))
        self.v, self.swish, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.forget = nn.Sequential(nn.Linear(WIDTH, 16, bias=False), nn.Linear(16, WIDTH // 2))
        self.norm = nn.RMSNorm(WIDTH // HEADS)

    def forward(self, x):
        log_gate = F.logsigmoid(self.forget(x).float()) / 16
        q, k, v, log_gate = (
            each.unflatten(-1, (HEADS, -1)).transpose(1, 2) for each in (self.q(x), self.k(x), self.v(x), log_gate)
        )
        y = gated_attention(q * q.size(-1) ** -0.5, k, v, log_gate)
        return self.out(self.norm(y.transpose(1, 2)).flatten(2) * F.silu(self.swish(x)))


class Block(nn.Module):
    def __init__(self, inner=2048):
        super().__init__()
        self.norm1, self.norm2, self.mix = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH), GatedLinearAttention()
        self.up, self.down = nn.Linear(WIDTH, 2 * inner, bias=False), nn.Linear(inner, WIDTH, bias=False)

    def forward(self, x):
        x = x + self.mix(self.norm1(x))
        gate, value = self.up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * value)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        nn.init.normal_(self.embed.weight, std=0.02)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.embed(ids))))


torch.manual_seed(0)
model = LanguageModel().to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

for step in range(3):
    tokens = torch.randint(0, WORDS, (BATCH, LENGTH + 1), device="cuda")
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.float().view(-1, WORDS), tokens[:, 1:].reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
print(f"loss {loss.item():.4f}")
