"""timm's idiom: a model built on the CPU, `.cuda()`, channels_last, mixup with soft labels, an
EMA copy."""

import os
from copy import deepcopy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SCALE = int(os.environ.get("WILD_SCALE", "1"))
CLASSES, WIDTH, DEPTH, BATCH, SIDE = 100, 32 * SCALE, 2, 8 * SCALE, 64
has_cuda = torch.cuda.is_available()


class ConvNormAct(nn.Sequential):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Residual(nn.Module):
    def __init__(self, width, drop_path):
        super().__init__()
        self.body = nn.Sequential(ConvNormAct(width, width), ConvNormAct(width, width))
        self.drop_path = drop_path

    def forward(self, x):
        y = self.body(x)
        if self.training and self.drop_path:
            keep = 1 - self.drop_path
            y = y * x.new_empty(x.shape[0], 1, 1, 1).bernoulli_(keep).div_(keep)
        return x + y


def create_model():
    layers = [ConvNormAct(3, WIDTH, 2)]
    for stage in range(3):
        width = WIDTH * 2**stage
        layers += [Residual(width, 0.1 * stage) for _ in range(DEPTH)]
        layers += [ConvNormAct(width, 2 * width, 2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * WIDTH, CLASSES))


class ModelEma:
    def __init__(self, model, decay=0.99):
        self.module = deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        newest = model.state_dict()
        for name, kept in self.module.state_dict().items():
            if kept.is_floating_point():
                kept.lerp_(newest[name], 1 - self.decay)
            else:
                kept.copy_(newest[name])


def soft_labels(target, smoothing=0.1):
    return F.one_hot(target, CLASSES).float() * (1 - smoothing) + smoothing / CLASSES


def mixup(x, target, alpha=0.2):
    """Each image and its label, blended with those of the batch in reverse order."""
    share = float(np.random.beta(alpha, alpha))
    soft = soft_labels(target)
    return x.mul_(share).add_(x.flip(0), alpha=1 - share), soft.mul(share) + soft.flip(0).mul(1 - share)


torch.manual_seed(42)
np.random.seed(42)
model = create_model()
print(f"{sum(p.numel() for p in model.parameters())} parameters")
if has_cuda:
    model = model.cuda()
model = model.to(memory_format=torch.channels_last)
model_ema = ModelEma(model)
decayed = [p for p in model.parameters() if p.ndim > 1]
others = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.SGD([{"params": decayed, "weight_decay": 1e-4}, {"params": others}],
                            lr=0.05, momentum=0.9, nesterov=True)
model.train()
for step in range(3):
    x, target = torch.rand(BATCH, 3, SIDE, SIDE), torch.randint(CLASSES, (BATCH,))
    if has_cuda:
        x, target = x.cuda(non_blocking=True), target.cuda(non_blocking=True)
    x, soft = mixup(x, target)
    x = x.contiguous(memory_format=torch.channels_last)
    loss = torch.sum(-soft * F.log_softmax(model(x), dim=-1), dim=-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model_ema.update(model)
    if has_cuda:
        torch.cuda.synchronize()
    print(f"train {step}: loss {loss.item():.4f}")

with torch.no_grad():
    guesses = model_ema.module(x).topk(5, dim=1).indices
    hits = (guesses == target[:, None]).any(dim=1)
    print(f"{hits.float().mean().item():.0%} among the first five")
