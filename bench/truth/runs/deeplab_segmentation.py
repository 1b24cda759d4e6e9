"""A net like DeepLab under bfloat16 autocast: dilated ResNet-50, pyramid pooling, validation between steps."""

import torch
import torch.nn.functional as F
from models.resnet import ResNet
from torch import nn


def unit(before, after, kernel=1, dilation=1):
    padding = dilation if kernel == 3 else 0
    return nn.Sequential(nn.Conv2d(before, after, kernel, 1, padding, dilation, bias=False),
                         nn.BatchNorm2d(after), nn.ReLU())


class DeepLab(nn.Module):
    def __init__(self, classes=19):
        super().__init__()
        self.body = ResNet(strides=(1, 2, 1, 1), dilations=(1, 1, 2, 4))
        self.branches = nn.ModuleList(
            [unit(2048, 256), *(unit(2048, 256, 3, rate) for rate in (12, 24, 36))])
        self.pool = unit(2048, 256)
        self.project = nn.Sequential(unit(1280, 256), nn.Dropout(0.5))
        self.head = nn.Sequential(unit(256, 256, 3), nn.Conv2d(256, classes, 1))

    def forward(self, images):
        x = self.body(images)[-1]
        parts = [branch(x) for branch in self.branches]
        pooled = self.pool(F.adaptive_avg_pool2d(x, 1))
        parts.append(F.interpolate(pooled, size=x.shape[-2:], mode="bilinear", align_corners=False))
        x = self.head(self.project(torch.cat(parts, dim=1)))
        return F.interpolate(x, size=images.shape[-2:], mode="bilinear", align_corners=False)


torch.manual_seed(0)
model = DeepLab().to("cuda")
body = [p for p in model.body.parameters()]
rest = [p for name, p in model.named_parameters() if not name.startswith("body.")]
optimizer = torch.optim.SGD([{"params": body, "lr": 1e-3}, {"params": rest, "lr": 1e-2}], momentum=0.9)

for step in range(3):
    model.train()
    images = torch.randn(8, 3, 512, 512, device="cuda")
    labels = torch.randint(0, 19, (8, 512, 512), device="cuda")
    labels[:, :8] = 255
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(images), labels, ignore_index=255)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        right = (model(images[:4]).argmax(1) == labels[:4]).float().mean()
    print(f"loss {loss.item():.4f} accuracy {right.item():.4f}")
