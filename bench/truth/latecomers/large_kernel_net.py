"""An image classifier with depthwise kernels of up to 31 x 31 beside 5 x 5 ones, float16 autocast and AdamW."""

import torch
from torch import nn

BATCH, SIDE, CLASSES = 32, 224, 1000
KERNELS, DEPTHS, WIDTHS = (31, 29, 27, 13), (2, 2, 4, 2), (64, 128, 256, 512)


def conv_norm(before, after, kernel, stride=1, groups=1):
    conv = nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(after))


class TwinDepthwise(nn.Module):
    def __init__(self, width, kernel):
        super().__init__()
        self.large = conv_norm(width, width, kernel, groups=width)
        self.small = conv_norm(width, width, 5, groups=width)

    def forward(self, x):
        return self.large(x) + self.small(x)


class LargeKernelBlock(nn.Module):
    def __init__(self, width, kernel):
        super().__init__()
        self.norm = nn.BatchNorm2d(width)
        self.before = nn.Sequential(conv_norm(width, width, 1), nn.ReLU(inplace=True))
        self.depthwise = nn.Sequential(TwinDepthwise(width, kernel), nn.ReLU(inplace=True))
        self.after = conv_norm(width, width, 1)

    def forward(self, x):
        return x + self.after(self.depthwise(self.before(self.norm(x))))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm2d(width)
        self.net = nn.Sequential(conv_norm(width, 4 * width, 1), nn.GELU(), conv_norm(4 * width, width, 1))

    def forward(self, x):
        return x + self.net(self.norm(x))


def transition(before, after):
    return nn.Sequential(
        conv_norm(before, after, 1),
        nn.ReLU(inplace=True),
        conv_norm(after, after, 3, stride=2, groups=after),
        nn.ReLU(inplace=True),
    )


def large_kernel_net():
    first = WIDTHS[0]
    layers = [conv_norm(3, first, 3, stride=2), nn.ReLU(inplace=True)]
    layers += [conv_norm(first, first, 3, groups=first), nn.ReLU(inplace=True), transition(first, first)]
    for stage, (kernel, depth, width) in enumerate(zip(KERNELS, DEPTHS, WIDTHS)):
        for _ in range(depth):
            layers += [LargeKernelBlock(width, kernel), FeedForward(width)]
        if stage + 1 < len(WIDTHS):
            layers.append(transition(width, WIDTHS[stage + 1]))
    head = [nn.BatchNorm2d(WIDTHS[-1]), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(WIDTHS[-1], CLASSES)]
    return nn.Sequential(*layers, *head)


torch.manual_seed(0)
model = large_kernel_net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.05)
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

for step in range(3):
    images = torch.randn(BATCH, 3, SIDE, SIDE).cuda(non_blocking=True)
    labels = torch.randint(0, CLASSES, (BATCH,)).cuda(non_blocking=True)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(images), labels)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(f"loss {loss.item():.4f}")
