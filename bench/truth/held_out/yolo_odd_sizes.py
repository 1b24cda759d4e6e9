"""A detector like YOLO in float: split stages with SiLU, pooled pyramid, three heads, images of odd sizes, SGD."""

import torch
import torch.nn.functional as F
from torch import nn

CLASSES, SIZES = 37, ((611, 459), (533, 717), (475, 619))


class Conv(nn.Sequential):
    def __init__(self, before, after, kernel=1, stride=1):
        super().__init__(nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False),
                         nn.BatchNorm2d(after), nn.SiLU(inplace=True))


class Split(nn.Module):
    def __init__(self, before, after, count):
        super().__init__()
        self.half = after // 2
        self.into = Conv(before, after)
        self.steps = nn.ModuleList(nn.Sequential(Conv(self.half, self.half, 3), Conv(self.half, self.half, 3))
                                   for _ in range(count))
        self.out = Conv((2 + count) * self.half, after)

    def forward(self, x):
        kept = list(self.into(x).split(self.half, dim=1))
        for step in self.steps:
            kept.append(kept[-1] + step(kept[-1]))
        return self.out(torch.cat(kept, 1))


class Pooled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.into, self.out = Conv(width, width // 2), Conv(2 * width, width)

    def forward(self, x):
        kept = [self.into(x)]
        for _ in range(3):
            kept.append(F.max_pool2d(kept[-1], 5, 1, 2))
        return self.out(torch.cat(kept, 1))


class Detector(nn.Module):
    def __init__(self, base=48):
        super().__init__()
        widths = [base << level for level in range(5)]
        self.stem = Conv(3, base, 3, 2)
        self.down = nn.ModuleList(nn.Sequential(Conv(a, b, 3, 2), Split(b, b, n))
                                  for a, b, n in zip(widths, widths[1:], (1, 2, 2, 1)))
        self.pooled = Pooled(widths[4])
        self.up = nn.ModuleList(Split(widths[n + 1] + widths[n], widths[n], 1) for n in (3, 2))
        self.heads = nn.ModuleList(nn.Sequential(Conv(width, 2 * base, 3), nn.Conv2d(2 * base, 4 + CLASSES, 1))
                                   for width in widths[2:])

    def forward(self, images):
        maps, x = [], self.stem(images)
        for down in self.down:
            x = down(x)
            maps.append(x)
        top = self.pooled(maps[3])
        middle = self.up[0](torch.cat((F.interpolate(top, size=maps[2].shape[-2:]), maps[2]), 1))
        low = self.up[1](torch.cat((F.interpolate(middle, size=maps[1].shape[-2:]), maps[1]), 1))
        return torch.cat([head(x).flatten(2) for head, x in zip(self.heads, (low, middle, top))], 2)


torch.manual_seed(0)
model = Detector().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.937, nesterov=True)

for step, (height, width) in enumerate(SIZES):
    images = torch.rand(10, 3, height, width, device="cuda")
    boxes, scores = model(images).split((4, CLASSES), dim=1)
    wanted = torch.rand_like(scores) > 0.99
    loss = F.binary_cross_entropy_with_logits(scores, wanted.float()) + F.smooth_l1_loss(boxes, torch.rand_like(boxes))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{height}x{width} loss {loss.item():.4f}")
