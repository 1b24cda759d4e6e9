"""A video classifier with convolutions split into space and time, bfloat16 autocast, channels last, SGD momentum."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, FRAMES, SIDE, CLASSES = 12, 16, 112, 400


class SplitConv(nn.Sequential):
    def __init__(self, before, after, stride=1):
        between = (before * after * 27) // (before * 9 + 3 * after)
        super().__init__(
            nn.Conv3d(before, between, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False),
            nn.BatchNorm3d(between),
            nn.ReLU(inplace=True),
            nn.Conv3d(between, after, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False),
            nn.BatchNorm3d(after),
        )


class ResidualBlock(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first, self.second = SplitConv(before, after, stride), SplitConv(after, after)
        self.shortcut = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(nn.Conv3d(before, after, 1, stride, bias=False), nn.BatchNorm3d(after))

    def forward(self, x):
        hidden = self.second(F.relu(self.first(x), inplace=True))
        return F.relu(hidden + self.shortcut(x), inplace=True)


class VideoNet(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512), depth=2):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv3d(3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3), bias=False),
            nn.BatchNorm3d(45),
            nn.ReLU(inplace=True),
            nn.Conv3d(45, widths[0], (3, 1, 1), 1, (1, 0, 0), bias=False),
            nn.BatchNorm3d(widths[0]),
            nn.ReLU(inplace=True),
        )
        blocks, before = [], widths[0]
        for stage, width in enumerate(widths):
            for number in range(depth):
                blocks.append(ResidualBlock(before, width, 2 if stage and not number else 1))
                before = width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Sequential(nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(before, CLASSES))
        for module in self.modules():
            if isinstance(module, nn.Conv3d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, clips):
        return self.head(self.blocks(self.stem(clips)))


torch.manual_seed(0)
model = VideoNet().to("cuda", memory_format=torch.channels_last_3d)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)

for step in range(3):
    frames = torch.randint(0, 256, (BATCH, 3, FRAMES, SIDE, SIDE), dtype=torch.uint8).cuda()
    clips = ((frames.float() / 255 - 0.45) / 0.225).contiguous(memory_format=torch.channels_last_3d)
    labels = torch.randint(0, CLASSES, (BATCH,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(clips), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
