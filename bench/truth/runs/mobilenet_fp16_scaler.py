"""A net like MobileNet under float16 autocast with GradScaler: inverted residuals over planes, RMSprop."""

import torch
import torch.nn.functional as F
from torch import nn

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class Residual(nn.Module):
    def __init__(self, before, after, stride, widening):
        super().__init__()
        inner = before * widening
        self.expand = nn.Conv2d(before, inner, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(inner)
        self.depthwise = nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.project = nn.Conv2d(inner, after, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(after)
        self.skips = stride == 1 and before == after

    def forward(self, x):
        y = F.relu6(self.bn1(self.expand(x)))
        y = F.relu6(self.bn2(self.depthwise(y)))
        y = self.bn3(self.project(y))
        return x + y if self.skips else y


class MobileNet(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        layers, width = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()], 32
        for widening, after, count, stride in STAGES:
            for number in range(count):
                layers.append(Residual(width, after, 1 if number else stride, widening))
                width = after
        layers += [nn.Conv2d(width, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes))

    def forward(self, images):
        return self.classifier(self.features(images).mean((2, 3)))


torch.manual_seed(0)
device = torch.device("cuda")
model = MobileNet().to(device)
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01, momentum=0.9, weight_decay=4e-5)
scaler = torch.amp.GradScaler("cuda", init_scale=256.0)

for step in range(4):
    images = torch.randn(128, 3, 224, 224, device=device)
    labels = torch.randint(0, 1000, (128,), device=device)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(model(images), labels)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step}: loss {loss.item():.4f}")
