"""x-transformers' idiom: a learned relative position bias as an attention mask that has a
gradient."""

import torch
import torch.nn.functional as F
from torch import einsum, nn

VOCAB, WIDTH, DEPTH, HEADS, LENGTH, BATCH, BUCKETS = 256, 128, 2, 4, 128, 4, 32
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class RelativePositionBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(BUCKETS, HEADS)

    def forward(self, length):
        places = torch.arange(length, device=self.bias.weight.device)
        distance = (places[:, None] - places[None, :]).clamp(min=0)
        far = BUCKETS // 2 + (torch.log(distance.float().clamp(min=1) / 16) * 4).long()
        buckets = torch.where(distance < BUCKETS // 2, distance, far.clamp(0, BUCKETS - 1))
        return self.bias(buckets).permute(2, 0, 1)


class Attention(nn.Module):
    def __init__(self, flash):
        super().__init__()
        self.flash = flash
        self.to_qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.to_out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, bias, causal):
        b, n, _ = x.shape
        q, k, v = (t.reshape(b, n, HEADS, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        masked = bias.masked_fill(causal, -torch.finfo(x.dtype).max)
        if self.flash:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=masked.expand(b, -1, -1, -1))
        else:
            dots = einsum("b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5 + masked
            out = einsum("b h i j, b h j d -> b h i d", dots.softmax(dim=-1, dtype=torch.float32), v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rel_pos = nn.Embedding(VOCAB, WIDTH), RelativePositionBias()
        self.attentions = nn.ModuleList(Attention(flash=i % 2 == 0) for i in range(DEPTH))
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                          nn.Linear(4 * WIDTH, WIDTH))
            for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids):
        n = ids.shape[1]
        x, bias = self.emb(ids), self.rel_pos(n)
        causal = torch.ones((n, n), dtype=torch.bool, device=ids.device).triu(1)
        for attention, feed in zip(self.attentions, self.feeds, strict=True):
            x = x + attention(x, bias, causal)
            x = x + feed(x)
        return self.norm(x) @ self.emb.weight.t()


torch.manual_seed(0)
model = Decoder().to(device)
optim = torch.optim.Adam(model.parameters(), lr=1e-4)
for i in range(3):
    model.train()
    seq = torch.randint(0, VOCAB, (BATCH, LENGTH + 1)).to(device)
    loss = F.cross_entropy(model(seq[:, :-1]).transpose(1, 2), seq[:, 1:])
    loss.backward()
    assert model.rel_pos.bias.weight.grad is not None
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optim.step()
    optim.zero_grad()
    print(f"training loss: {loss.item()}")
