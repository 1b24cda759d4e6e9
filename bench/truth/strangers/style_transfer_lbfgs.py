"""Neural style transfer in float: one image under LBFGS, Gram matrices of a frozen net like VGG-19 at five layers."""

import torch
import torch.nn.functional as F
from torch import nn

SIDE = 640


class Normalize(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(-1, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(-1, 1, 1))

    def forward(self, image):
        return (image - self.mean) / self.std


def gram_matrix(x):
    batch, maps, height, width = x.size()
    features = x.view(batch * maps, height * width)
    return torch.mm(features, features.t()).div(batch * maps * height * width)


class StyleLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = gram_matrix(target).detach()

    def forward(self, x):
        self.loss = F.mse_loss(gram_matrix(x), self.target)
        return x


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, x):
        self.loss = F.mse_loss(x, self.target)
        return x


torch.manual_seed(0)
device = "cuda"
content, style = torch.rand(1, 3, SIDE, SIDE, device=device), torch.rand(1, 3, SIDE, SIDE, device=device)
model, styles, contents = nn.Sequential(Normalize().to(device)), [], []
before, number = 3, 0
for width in (64, 64, "pool", 128, 128, "pool", 256, 256, 256, 256, "pool", 512, 512):
    if width == "pool":
        model.append(nn.MaxPool2d(2))
        continue
    conv = nn.Conv2d(before, width, 3, padding=1).to(device).requires_grad_(False).eval()
    before, number = width, number + 1
    model.append(conv)
    if number in (1, 2, 3, 5, 9):
        styles.append(StyleLoss(model(style)))
        model.append(styles[-1])
    if number == 9:
        contents.append(ContentLoss(model(content)))
        model.append(contents[-1])
    model.append(nn.ReLU(inplace=False))

image = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([image], max_iter=6, history_size=10)

for step in range(3):
    def closure():
        with torch.no_grad():
            image.clamp_(0, 1)
        optimizer.zero_grad()
        model(image)
        loss = 1e6 * sum(each.loss for each in styles) + sum(each.loss for each in contents)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    print(f"step {step}: {loss.item():.4f}")
