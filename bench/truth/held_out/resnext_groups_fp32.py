"""ResNeXt with 32 groups in float, a moving average of its weights, 28 images of 240 x 240, RAdam."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

GROUPS, COUNTS = 32, (3, 4, 6, 3)


class Block(nn.Module):
    def __init__(self, before, middle, after, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(inplace=True),
            nn.Conv2d(middle, middle, 3, stride, 1, groups=GROUPS, bias=False), nn.BatchNorm2d(middle),
            nn.ReLU(inplace=True), nn.Conv2d(middle, after, 1, bias=False), nn.BatchNorm2d(after))
        self.skip = nn.Identity()
        if stride != 1 or before != after:
            self.skip = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


class ResNeXt(nn.Module):
    def __init__(self, classes=200):
        super().__init__()
        layers, width = [], 64
        for number, count in enumerate(COUNTS):
            for place in range(count):
                stride = 2 if number and not place else 1
                layers.append(Block(width, 128 << number, 256 << number, stride))
                width = 256 << number
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, 1))
        self.blocks, self.head = nn.Sequential(*layers), nn.Linear(width, classes)

    def forward(self, images):
        return self.head(self.blocks(self.stem(images)).mean((2, 3)))


torch.manual_seed(0)
model = ResNeXt().to("cuda")
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999), use_buffers=True)
optimizer = torch.optim.RAdam(model.parameters(), lr=1e-4)

for step in range(3):
    images = torch.randn(28, 3, 240, 240, device="cuda")
    labels = torch.randint(0, 200, (28,), device="cuda")
    loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    average.update_parameters(model)
    print("loss", loss.item())
