"""Sharpness-aware minimisation of a wide ResNet in float: two passes a step, an optimizer around SGD, label smoothing."""

import torch
import torch.nn.functional as F
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, {"rho": rho, **kwargs})
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.norm(torch.stack([p.grad.norm(p=2) for group in self.param_groups for p in group["params"]]), p=2)
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                self.state[p]["old"] = p.data.clone()
                p.add_(p.grad * scale)
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["old"]
        self.base.step()
        self.zero_grad()


class Block(nn.Module):
    def __init__(self, before, after, stride, dropout=0.1):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(before), nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn2, self.conv2 = nn.BatchNorm2d(after), nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.dropout = dropout
        self.short = nn.Conv2d(before, after, 1, stride, bias=False) if before != after or stride != 1 else None

    def forward(self, x):
        y = F.relu(self.bn1(x))
        short = x if self.short is None else self.short(y)
        y = F.dropout(F.relu(self.bn2(self.conv1(y))), self.dropout, self.training)
        return self.conv2(y) + short


def wide_resnet(blocks=4, wide=8, classes=100):
    layers, before = [nn.Conv2d(3, 16, 3, padding=1, bias=False)], 16
    for group, width in enumerate((16 * wide, 32 * wide, 64 * wide)):
        for number in range(blocks):
            layers.append(Block(before, width, 2 if group and number == 0 else 1))
            before = width
    return nn.Sequential(*layers, nn.BatchNorm2d(before), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(before, classes))


def keep_running_stats(model, keep):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 0.1 if keep else 0.0


torch.manual_seed(0)
model = wide_resnet().to("cuda")
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=5e-4)

for step in range(3):
    images, labels = torch.randn(160, 3, 32, 32).to("cuda"), torch.randint(0, 100, (160,)).to("cuda")
    keep_running_stats(model, True)
    loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    loss.mean().backward()
    optimizer.first_step()
    keep_running_stats(model, False)
    F.cross_entropy(model(images), labels, label_smoothing=0.1).backward()
    optimizer.second_step()
    print(f"step {step}: {loss.item():.4f}")
