"""An image net in float16 autocast and channels_last, on pinned batches copied and normalised by a side stream, SGD."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, SIDE, CLASSES, BATCHES = 128, 160, 1000, 3


class Bottleneck(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        after = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(before, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, after, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x), inplace=True)


def image_net(plan=((64, 2, 1), (128, 3, 2), (256, 4, 2), (512, 2, 2))):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for width, count, stride in plan:
        for number in range(count):
            layers.append(Bottleneck(before, width, 1 if number else stride))
            before = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, CLASSES))


class Prefetcher:
    def __init__(self, loader):
        self.loader, self.stream = iter(loader), torch.cuda.Stream()
        self.mean = torch.tensor([123.7, 116.3, 103.5], device="cuda").view(1, 3, 1, 1)
        self.std = torch.tensor([58.4, 57.1, 57.4], device="cuda").view(1, 3, 1, 1)
        self.preload()

    def preload(self):
        images, labels = next(self.loader, (None, None))
        if images is None:
            self.ready = None
            return
        with torch.cuda.stream(self.stream):
            images = images.to("cuda", non_blocking=True).to(memory_format=torch.channels_last)
            labels = labels.to("cuda", non_blocking=True)
            self.ready = images.float().sub_(self.mean).div_(self.std), labels

    def __iter__(self):
        while self.ready is not None:
            current = torch.cuda.current_stream()
            current.wait_stream(self.stream)
            images, labels = self.ready
            images.record_stream(current)
            labels.record_stream(current)
            self.preload()
            yield images, labels


def pinned_batches():
    for _ in range(BATCHES):
        images = torch.randint(0, 256, (BATCH, 3, SIDE, SIDE), dtype=torch.uint8)
        yield images.pin_memory(), torch.randint(0, CLASSES, (BATCH,)).pin_memory()


torch.manual_seed(0)
model = image_net().to("cuda", memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-5)
scaler = torch.amp.GradScaler("cuda")

model.train()
for images, labels in Prefetcher(pinned_batches()):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(f"loss {loss.item():.4f}")
