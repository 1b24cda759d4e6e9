"""U-Net with batch norm in float, 8 images of 384 x 384, cross entropy and dice, Adam."""

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 21


class Double(nn.Sequential):
    def __init__(self, before, after):
        super().__init__(
            nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, base=64, levels=4):
        super().__init__()
        self.first = Double(3, base)
        self.down = nn.ModuleList(Double(base << n, base << (n + 1)) for n in range(levels))
        self.up = nn.ModuleList(nn.ConvTranspose2d(base << (n + 1), base << n, 2, 2)
                                for n in reversed(range(levels)))
        self.merge = nn.ModuleList(Double(base << (n + 1), base << n) for n in reversed(range(levels)))
        self.last = nn.Conv2d(base, CLASSES, 1)

    def forward(self, x):
        x, kept = self.first(x), []
        for down in self.down:
            kept.append(x)
            x = down(F.max_pool2d(x, 2))
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat((kept.pop(), up(x)), dim=1))
        return self.last(x)


def dice_loss(logits, labels):
    p = logits.softmax(1)
    wanted = F.one_hot(labels, CLASSES).permute(0, 3, 1, 2).float()
    both = (p * wanted).sum((2, 3))
    return 1 - (2 * both / (p.sum((2, 3)) + wanted.sum((2, 3)) + 1)).mean()


torch.manual_seed(0)
net = UNet().cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
for step in range(3):
    images = torch.rand(8, 3, 384, 384, device="cuda")
    labels = torch.randint(0, CLASSES, (8, 384, 384), device="cuda")
    logits = net(images)
    loss = F.cross_entropy(logits, labels) + dice_loss(logits, labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.1)
    optimizer.step()
    print("loss", loss.item())
