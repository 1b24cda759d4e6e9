"""An encoder-decoder with the shapes of T5 small in float, relative position bias, 16 x 256 tokens, AdamW."""

import math

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, INNER, LAYERS, VOCABULARY = 512, 8, 2048, 6, 32128


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x, memory, bias):
        q, k, v = (p(t).view(t.shape[0], -1, HEADS, WIDTH // HEADS).transpose(1, 2)
                   for p, t in ((self.q, x), (self.k, memory), (self.v, memory)))
        scores = torch.matmul(q, k.transpose(3, 2))
        scores = scores + bias
        weights = F.dropout(F.softmax(scores.float(), dim=-1).type_as(scores), 0.1, self.training)
        out = torch.matmul(weights, v).transpose(1, 2).contiguous().view(x.shape[0], -1, WIDTH)
        return self.o(out)


class Layer(nn.Module):
    def __init__(self, crosses):
        super().__init__()
        self.norms = nn.ModuleList(Norm() for _ in range(3))
        self.attention, self.cross = Attention(), Attention() if crosses else None
        self.wi, self.wo = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, bias, memory=None, memory_bias=None):
        y = self.norms[0](x)
        x = x + self.drop(self.attention(y, y, bias))
        if self.cross is not None:
            x = x + self.drop(self.cross(self.norms[1](x), memory, memory_bias))
        return x + self.drop(self.wo(self.drop(F.relu(self.wi(self.norms[2](x))))))


class Stack(nn.Module):
    def __init__(self, is_decoder):
        super().__init__()
        self.is_decoder = is_decoder
        self.relative = nn.Embedding(32, HEADS)
        self.layers = nn.ModuleList(Layer(is_decoder) for _ in range(LAYERS))
        self.norm, self.drop = Norm(), nn.Dropout(0.1)

    def bias(self, length, device):
        place = torch.arange(length, device=device)
        distance = place[None, :] - place[:, None]
        far = 8 + (torch.log(distance.abs().float().clamp(min=1) / 8) / math.log(16) * 8).long()
        bucket = torch.where(distance.abs() < 8, distance.abs(), far.clamp(max=15))
        bias = self.relative(bucket + (distance > 0) * 16).permute(2, 0, 1)[None]
        if self.is_decoder:
            bias = bias.masked_fill(distance > 0, torch.finfo(bias.dtype).min)
        return bias

    def forward(self, x, memory=None, memory_bias=None):
        bias, x = self.bias(x.shape[1], x.device), self.drop(x)
        for layer in self.layers:
            x = layer(x, bias, memory, memory_bias)
        return self.drop(self.norm(x))


torch.manual_seed(0)
device = "cuda"
shared = nn.Embedding(VOCABULARY, WIDTH).to(device)
encoder, decoder = Stack(False).to(device), Stack(True).to(device)
parameters = [*shared.parameters(), *encoder.parameters(), *decoder.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=1e-4)

for step in range(4):
    source = torch.randint(0, VOCABULARY, (16, 256), device=device)
    target = torch.randint(0, VOCABULARY, (16, 256), device=device)
    memory = encoder(shared(source))
    no_bias = torch.zeros(16, HEADS, 256, 256, device=device)
    out = decoder(shared(target.roll(1, dims=1)), memory, no_bias)
    logits = F.linear(out * WIDTH ** -0.5, shared.weight)
    loss = F.cross_entropy(logits.view(-1, VOCABULARY), target.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
