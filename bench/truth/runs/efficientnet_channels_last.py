"""A net like EfficientNet in channels_last under bfloat16 autocast: depthwise, squeeze and excite, SGD."""

import torch
import torch.nn.functional as F
from torch import nn

# widening, width, blocks, stride, kernel
STAGES = ((1, 24, 2, 1, 3), (4, 48, 4, 2, 3), (4, 64, 4, 2, 5), (4, 128, 6, 2, 3), (6, 160, 9, 1, 3), (6, 256, 8, 2, 5))


class Squeeze(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(width, inner, 1), nn.Conv2d(inner, width, 1)

    def forward(self, x):
        gate = self.expand(F.silu(self.reduce(x.mean((2, 3), keepdim=True))))
        return x * torch.sigmoid(gate)


def unit(before, after, kernel=1, stride=1, groups=1):
    return (nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(after), nn.SiLU(inplace=True))


class Inverted(nn.Module):
    def __init__(self, before, after, widening, stride, kernel):
        super().__init__()
        inner = before * widening
        layers = [*unit(before, inner)] if widening > 1 else []
        layers += [*unit(inner, inner, kernel, stride, inner), Squeeze(inner, max(before // 4, 8))]
        layers += [nn.Conv2d(inner, after, 1, bias=False), nn.BatchNorm2d(after)]
        self.layers = nn.Sequential(*layers)
        self.keeps = stride == 1 and before == after

    def forward(self, x):
        return x + self.layers(x) if self.keeps else self.layers(x)


def build():
    layers, width = [*unit(3, 24, 3, 2)], 24
    for widening, after, blocks, stride, kernel in STAGES:
        for number in range(blocks):
            layers.append(Inverted(width, after, widening, 1 if number else stride, kernel))
            width = after
    return nn.Sequential(*layers, *unit(width, 1280), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Dropout(0.2), nn.Linear(1280, 1000))


torch.manual_seed(0)
model = build().to("cuda", memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-5)

for step in range(4):
    images = torch.randn(96, 3, 240, 240, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (96,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
