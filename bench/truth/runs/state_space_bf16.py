"""A gated linear recurrence in bfloat16 by cumulative sums and depthwise 1-D convolutions, Adafactor foreach."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, INNER, LENGTH, VOCABULARY = 1024, 2048, 2048, 32000


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH)
        self.into, self.out = nn.Linear(WIDTH, 3 * INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)
        self.conv = nn.Conv1d(INNER, INNER, 4, groups=INNER, padding=3)
        self.decay = nn.Parameter(torch.zeros(INNER))

    def forward(self, x):
        values, gate, step = self.into(self.norm(x)).chunk(3, dim=-1)
        values = F.silu(self.conv(values.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        rate = -F.softplus(step.float() + self.decay) * 0.01
        log_decay = rate.cumsum(dim=1)
        state = torch.cumsum(values.float() * torch.exp(-log_decay), dim=1) * torch.exp(log_decay)
        return x + self.out((state.to(x.dtype) / LENGTH ** 0.5) * F.silu(gate))


class Model(nn.Module):
    def __init__(self, layers=12):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.Sequential(*(Mixer() for _ in range(layers)))
        self.norm, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.layers(self.embed(tokens))))


torch.manual_seed(0)
model = Model().to("cuda", torch.bfloat16)
optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3, foreach=True)

for step in range(3):
    tokens = torch.randint(0, VOCABULARY, (2, LENGTH + 1), device="cuda")
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
