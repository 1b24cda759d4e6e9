"""A small GPT in bfloat16 with rotary places, squared ReLU and capped logits: Muon for matrices, AdamW for the rest."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LAYERS, WORDS, LENGTH = 768, 6, 12, 50304, 1024


def whitened(gradient, rounds=5):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = gradient.bfloat16()
    if gradient.size(-2) > gradient.size(-1):
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(rounds):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if gradient.size(-2) > gradient.size(-1) else x


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, momentum=0.95):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p.grad)
                state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                update = whitened(p.grad.lerp_(state["momentum"], group["momentum"]))
                p.add_(update.view_as(p), alpha=-group["lr"] * max(1, p.size(-2) / p.size(-1)) ** 0.5)


def rotary(x):
    half = x.size(-1) // 2
    speeds = (1 / 1024) ** torch.linspace(0, 1, half, device=x.device)
    turns = torch.outer(torch.arange(x.size(1), device=x.device), speeds)[None, :, None]
    cos, sin = turns.cos(), turns.sin()
    one, two = x.float().chunk(2, dim=-1)
    return torch.cat((one * cos + two * sin, two * cos - one * sin), 3).type_as(x)


class CastedLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.type_as(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = CastedLinear(WIDTH, 3 * WIDTH, bias=False), CastedLinear(WIDTH, WIDTH, bias=False)
        self.up, self.down = CastedLinear(WIDTH, 4 * WIDTH, bias=False), CastedLinear(4 * WIDTH, WIDTH, bias=False)
        self.out.weight.detach().zero_()
        self.down.weight.detach().zero_()
        self.mix = nn.Parameter(torch.tensor([1.0, 0.0]))

    def forward(self, x, first):
        x = self.mix[0] * x + self.mix[1] * first
        batch, length, _ = x.shape
        q, k, v = self.qkv(F.rms_norm(x, (WIDTH,))).view(batch, length, 3 * HEADS, -1).chunk(3, dim=-2)
        q, k = (rotary(F.rms_norm(each, (each.size(-1),))) for each in (q, k))
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.relu(self.up(F.rms_norm(x, (WIDTH,)))).square())


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(WORDS, WIDTH).bfloat16(), nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = CastedLinear(WIDTH, WORDS, bias=False)

    def forward(self, ids, targets):
        first = x = F.rms_norm(self.embed(ids), (WIDTH,))
        for block in self.blocks:
            x = block(x, first)
        logits = self.head(F.rms_norm(x, (WIDTH,))).float()
        logits = 30 * torch.sigmoid(logits / 7.5)
        return F.cross_entropy(logits.view(-1, WORDS), targets.view(-1))


torch.manual_seed(0)
model = GPT().cuda()
matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
others = [p for p in model.parameters() if p.ndim < 2] + [model.embed.weight, model.head.weight]
optimizers = [torch.optim.AdamW(others, lr=0.008, betas=(0.8, 0.95), fused=True), Muon(matrices)]

for step in range(3):
    tokens = torch.randint(0, WORDS, (4, LENGTH + 1), dtype=torch.int32)
    inputs, targets = tokens[:, :-1].to("cuda", non_blocking=True), tokens[:, 1:].to("cuda", torch.int64)
    loss = model(inputs, targets)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    model.zero_grad(set_to_none=True)
    print(f"step {step}: {loss.item():.4f}")
