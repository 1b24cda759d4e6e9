"""The idiom of differential privacy with torch.func: per-sample gradients by vmap, clipped, with
noise."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

BATCH, CLIP, NOISE = 16, 1.0, 0.5
device = "cuda" if torch.cuda.is_available() else "cpu"


class SimpleCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 3), nn.Conv2d(16, 32, 3)
        self.fc1, self.fc2 = nn.Linear(32 * 12 * 12, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


torch.manual_seed(0)
model = SimpleCNN().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def loss_of(params, sample, target):
    predictions = functional_call(model, params, (sample.unsqueeze(0),))
    return F.cross_entropy(predictions, target.unsqueeze(0))


per_sample = vmap(grad_and_value(loss_of), in_dims=(None, 0, 0), randomness="same")
for step in range(3):
    data = torch.randn(BATCH, 1, 28, 28, device=device)
    targets = torch.randint(10, (BATCH,), device=device)
    params = {name: p.detach() for name, p in model.named_parameters()}
    grads, losses = per_sample(params, data, targets)
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()], dim=1).norm(dim=1)
    factor = (CLIP / (norms + 1e-6)).clamp(max=1.0)
    for name, p in model.named_parameters():
        assert grads[name].shape == (BATCH, *p.shape)
        clipped = torch.einsum("b,b...->...", factor, grads[name])
        p.grad = (clipped + NOISE * CLIP * torch.randn_like(p)) / BATCH
    del grads
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {losses.mean().item():.4f}, largest norm {norms.max().item():.3f}")
