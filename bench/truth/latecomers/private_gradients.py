"""Differentially private SGD in float: gradients of every sample by vmap, clipped one by one, then noise."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

BATCH, SIDE, CLASSES, CLIP, NOISE = 256, 32, 10, 1.0, 1.1


def block(before, after, stride):
    return nn.Sequential(nn.Conv2d(before, after, 3, stride, 1), nn.GroupNorm(16, after), nn.ReLU())


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            block(3, 32, 1), block(32, 64, 2), block(64, 64, 1), block(64, 128, 2), block(128, 128, 1)
        )
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128 * 16, 256), nn.ReLU())
        self.classify = nn.Linear(256, CLASSES)

    def forward(self, x):
        return self.classify(self.head(self.features(x)))


torch.manual_seed(0)
device = torch.device("cuda")
model = ConvNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def sample_loss(params, buffers, image, label):
    logits = functional_call(model, (params, buffers), (image.unsqueeze(0),))
    return F.cross_entropy(logits, label.unsqueeze(0))


per_sample = vmap(grad_and_value(sample_loss), in_dims=(None, None, 0, 0), randomness="different")

for step in range(3):
    images = torch.randn(BATCH, 3, SIDE, SIDE).to(device)
    labels = torch.randint(0, CLASSES, (BATCH,)).to(device)
    params = {name: p.detach() for name, p in model.named_parameters()}
    grads, losses = per_sample(params, dict(model.named_buffers()), images, labels)
    norms = torch.stack([g.flatten(1).norm(2, dim=1) for g in grads.values()], dim=1).norm(2, dim=1)
    factors = (CLIP / (norms + 1e-6)).clamp(max=1.0)
    optimizer.zero_grad()
    for name, p in model.named_parameters():
        total = torch.einsum("n,n...->...", factors, grads[name])
        p.grad = (total + NOISE * CLIP * torch.randn_like(p)) / BATCH
    optimizer.step()
print(f"loss {losses.mean().item():.4f}")
