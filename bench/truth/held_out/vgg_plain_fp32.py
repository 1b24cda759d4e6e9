"""A net like VGG-16 in float: convolutions with bias and in-place ReLU, wide linear layers, SGD with Nesterov."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTHS = (64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool", 512, 512, 512, "pool", 512, 512, 512, "pool")


def features():
    layers, before = [], 3
    for width in WIDTHS:
        if width == "pool":
            layers.append(nn.MaxPool2d(2, 2))
        else:
            layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU(inplace=True)]
            before = width
    return nn.Sequential(*layers)


class VGG(nn.Module):
    def __init__(self, classes=365):
        super().__init__()
        self.features, self.pool = features(), nn.AdaptiveAvgPool2d(7)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 49, 4096), nn.ReLU(inplace=True), nn.Dropout(),
            nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, classes))

    def forward(self, images):
        return self.classifier(self.pool(self.features(images)).flatten(1))


torch.manual_seed(0)
model = VGG().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9, nesterov=True, weight_decay=5e-4)

for step in range(3):
    images = torch.randn(40, 3, 192, 192, device="cuda")
    labels = torch.randint(0, 365, (40,), device="cuda")
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.3f}")
