"""Preference tuning in bfloat16: a policy and a frozen copy of it, chosen and rejected answers, two batches a step, AdamW."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LAYERS, WORDS, LENGTH = 1024, 16, 10, 32000, 640


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks, self.norm = nn.ModuleList(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def answer_logps(logits, labels, mask):
    found = torch.gather(logits[:, :-1].log_softmax(-1), 2, labels[:, 1:, None]).squeeze(2)
    return (found * mask[:, 1:]).sum(-1)


torch.manual_seed(0)
policy = Model().to("cuda", torch.bfloat16)
reference = copy.deepcopy(policy).eval()
for parameter in reference.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.AdamW(policy.parameters(), lr=5e-7)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))

for step in range(3):
    for part in range(2):
        ids = torch.randint(0, WORDS, (4, LENGTH)).to("cuda", non_blocking=True)  # two chosen, two rejected
        mask = (torch.arange(LENGTH, device="cuda") >= 128).expand(4, -1)
        with torch.no_grad():
            theirs = answer_logps(reference(ids), ids, mask)
        ours = answer_logps(policy(ids), ids, mask)
        chosen, rejected = (ours - theirs).chunk(2)
        loss = -F.logsigmoid(0.1 * (chosen - rejected)).mean() / 2
        loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad(set_to_none=True)
    print(f"step {step}: {loss.item():.4f} {(chosen > rejected).float().mean().item():.2f}")
