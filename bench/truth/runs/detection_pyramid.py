"""A one-stage detector in float: ResNet-50, feature pyramid, two heads, images of another size each step."""

import torch
import torch.nn.functional as F
from models.resnet import ResNet
from torch import nn

CLASSES, ANCHORS = 80, 9
SIZES = ((800, 800), (640, 960), (896, 672), (736, 736))


class Pyramid(nn.Module):
    def __init__(self, widths=(512, 1024, 2048), out=256):
        super().__init__()
        self.inner = nn.ModuleList(nn.Conv2d(width, out, 1) for width in widths)
        self.outer = nn.ModuleList(nn.Conv2d(out, out, 3, padding=1) for _ in widths)
        self.p6 = nn.Conv2d(widths[-1], out, 3, 2, 1)
        self.p7 = nn.Conv2d(out, out, 3, 2, 1)

    def forward(self, maps):
        inner = [layer(x) for layer, x in zip(self.inner, maps)]
        for level in (1, 0):
            inner[level] = inner[level] + F.interpolate(inner[level + 1], size=inner[level].shape[-2:])
        out = [layer(x) for layer, x in zip(self.outer, inner)]
        p6 = self.p6(maps[-1])
        return [*out, p6, self.p7(F.relu(p6))]


def head(outputs):
    layers = []
    for _ in range(4):
        layers += [nn.Conv2d(256, 256, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(256, outputs, 3, padding=1))


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pyramid = ResNet(), Pyramid()
        self.classify, self.regress = head(ANCHORS * CLASSES), head(ANCHORS * 4)

    def forward(self, images):
        levels = self.pyramid(self.body(images)[1:])
        flat = [[h(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, size) for x in levels]
                for h, size in ((self.classify, CLASSES), (self.regress, 4))]
        return torch.cat(flat[0], 1), torch.cat(flat[1], 1)


def focal_loss(logits, targets, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(logits)
    entropy = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    right = p * targets + (1 - p) * (1 - targets)
    weight = alpha * targets + (1 - alpha) * (1 - targets)
    return (weight * entropy * (1 - right) ** gamma).sum() / logits.shape[0]


torch.manual_seed(0)
model = Detector().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, weight_decay=1e-4)

for step, (height, width) in enumerate(SIZES):
    images = torch.rand(8, 3, height, width, device="cuda")
    scores, boxes = model(images)
    wanted = torch.zeros_like(scores)
    wanted[:, ::1000, step] = 1.0
    loss = focal_loss(scores, wanted) + F.smooth_l1_loss(boxes, torch.randn_like(boxes))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
    print(f"{height}x{width} loss {loss.item():.3f}")
