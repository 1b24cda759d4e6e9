"""A net like WaveNet in float: dilated causal 1-D convolutions with gates and skips, 12 000 samples, AMSGrad."""

import torch
import torch.nn.functional as F
from torch import nn

LEVELS, WIDTH, SKIP = 256, 96, 192


class Gated(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.reach = dilation
        self.both = nn.Conv1d(WIDTH, 2 * WIDTH, 2, dilation=dilation)
        self.residual, self.skip = nn.Conv1d(WIDTH, WIDTH, 1), nn.Conv1d(WIDTH, SKIP, 1)

    def forward(self, x):
        a, b = self.both(F.pad(x, (self.reach, 0))).chunk(2, dim=1)
        y = torch.tanh(a) * torch.sigmoid(b)
        return x + self.residual(y), self.skip(y)


class WaveNet(nn.Module):
    def __init__(self, stacks=2, depth=10):
        super().__init__()
        self.embed = nn.Embedding(LEVELS, WIDTH)
        self.layers = nn.ModuleList(Gated(1 << number) for _ in range(stacks) for number in range(depth))
        self.out1, self.out2 = nn.Conv1d(SKIP, SKIP, 1), nn.Conv1d(SKIP, LEVELS, 1)

    def forward(self, samples):
        x, total = self.embed(samples).transpose(1, 2), 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.out2(F.relu(self.out1(F.relu(total))))


torch.manual_seed(0)
device = torch.device("cuda")
model = WaveNet().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=True)

for step in range(3):
    samples = torch.randint(0, LEVELS, (10, 12001), device=device)
    loss = F.cross_entropy(model(samples[:, :-1]), samples[:, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, f"{loss.item():.4f}")
