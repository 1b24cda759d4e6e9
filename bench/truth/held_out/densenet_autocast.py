"""A net like DenseNet-121 under bfloat16 autocast: every layer sees all before it by concatenation, NAdam."""

import torch
import torch.nn.functional as F
from torch import nn

GROWTH, STAGES = 32, (6, 12, 24, 16)


class Layer(nn.Module):
    def __init__(self, before):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(before), nn.Conv2d(before, 4 * GROWTH, 1, bias=False)
        self.norm2, self.conv2 = nn.BatchNorm2d(4 * GROWTH), nn.Conv2d(4 * GROWTH, GROWTH, 3, padding=1, bias=False)

    def forward(self, kept):
        x = self.conv1(F.relu(self.norm1(torch.cat(kept, 1)), inplace=True))
        return self.conv2(F.relu(self.norm2(x), inplace=True))


class Stage(nn.Module):
    def __init__(self, before, count):
        super().__init__()
        self.layers = nn.ModuleList(Layer(before + number * GROWTH) for number in range(count))

    def forward(self, x):
        kept = [x]
        for layer in self.layers:
            kept.append(layer(kept))
        return torch.cat(kept, 1)


class DenseNet(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        width = 2 * GROWTH
        layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                  nn.MaxPool2d(3, 2, 1)]
        for number, count in enumerate(STAGES):
            layers.append(Stage(width, count))
            width += count * GROWTH
            if number + 1 < len(STAGES):
                layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.Conv2d(width, width // 2, 1, bias=False),
                           nn.AvgPool2d(2, 2)]
                width //= 2
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(width), nn.ReLU(inplace=True))
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        return self.head(F.adaptive_avg_pool2d(self.features(images), 1).flatten(1))


torch.manual_seed(0)
model = DenseNet().to("cuda")
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-4)

for step in range(3):
    images = torch.randn(56, 3, 208, 208, device="cuda")
    labels = torch.randint(0, 1000, (56,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
