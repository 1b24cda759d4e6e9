"""Distillation under float16 autocast with GradScaler: a vision transformer teaches a small net, averaged weights, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

BATCH, SIDE, CLASSES = 96, 192, 1000


class Teacher(nn.Module):
    def __init__(self, width=768, layers=8, patch=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, (SIDE // patch) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 12, 4 * width, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.places
        return self.head(self.encoder(x)[:, 0])


class Separable(nn.Sequential):
    def __init__(self, before, after, stride):
        super().__init__(
            nn.Conv2d(before, before, 3, stride, 1, groups=before, bias=False), nn.BatchNorm2d(before), nn.ReLU6(True),
            nn.Conv2d(before, after, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU6(True))


def student():
    layers, before = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6(True)], 32
    for after, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (1024, 2)):
        layers.append(Separable(before, after, stride))
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(before, CLASSES))


torch.manual_seed(0)
teacher, small = Teacher().cuda().eval(), student().cuda()
average = AveragedModel(small, multi_avg_fn=get_ema_multi_avg_fn(0.999))
optimizer = torch.optim.AdamW(small.parameters(), lr=1e-3, weight_decay=0.05)
scaler = torch.amp.GradScaler()

for step in range(3):
    images, labels = torch.randn(BATCH, 3, SIDE, SIDE).cuda(), torch.randint(0, CLASSES, (BATCH,)).cuda()
    with torch.autocast("cuda", dtype=torch.float16):
        with torch.no_grad():
            told = teacher(images)
        answer = small(images)
        soft = F.kl_div(F.log_softmax(answer / 4, 1), F.log_softmax(told / 4, 1), reduction="batchmean", log_target=True)
        loss = 0.5 * F.cross_entropy(answer, labels) + 0.5 * 16 * soft
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(small.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    average.update_parameters(small)
    print(f"step {step}: {loss.item():.4f}")
average.eval()
with torch.no_grad():
    print(average(images).argmax(1)[:4].shape)
