"""Momentum contrast under bfloat16 autocast: two ResNet-18, a queue of 65 536 keys, shuffled batches, SGD with a cosine."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

BATCH, SIDE, KEYS, WIDTH = 192, 160, 65536, 128


class Basic(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.relu, self.down = nn.ReLU(inplace=True), None
        if stride != 1 or before != after:
            self.down = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.down is None else self.down(x)))


def encoder():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for width in (64, 128, 256, 512):
        layers += [Basic(before, width, 1 if width == 64 else 2), Basic(width, width, 1)]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 512), nn.ReLU(),
                         nn.Linear(512, WIDTH))


class MoCo(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = encoder()
        self.key = copy.deepcopy(self.query)
        for parameter in self.key.parameters():
            parameter.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(WIDTH, KEYS), dim=0))
        self.register_buffer("at", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def follow(self):
        for theirs, ours in zip(self.query.parameters(), self.key.parameters()):
            ours.data = ours.data * 0.999 + theirs.data * 0.001

    def forward(self, one, other):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.follow()
            shuffle = torch.randperm(len(other), device=other.device)
            k = F.normalize(self.key(other[shuffle]), dim=1)[torch.argsort(shuffle)]
        positive = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        negative = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())
        logits = torch.cat([positive, negative], dim=1) / 0.07
        at = int(self.at)
        self.queue[:, at:at + len(k)] = k.T
        self.at[0] = (at + len(k)) % KEYS
        return logits, torch.zeros(len(logits), dtype=torch.long, device=logits.device)


torch.manual_seed(0)
model = MoCo().cuda()
optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), 0.03, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)

for step in range(3):
    images = torch.randn(BATCH, 3, SIDE, SIDE).pin_memory().cuda(non_blocking=True)
    with torch.autocast("cuda", torch.bfloat16):
        logits, labels = model(images, images.flip(3))
        loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    print(f"step {step}: {loss.item():.4f}")
