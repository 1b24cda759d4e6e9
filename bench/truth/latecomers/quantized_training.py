"""Quantisation-aware training of a residual net in float: 8 bits per channel and per tensor, straight through, SGD."""

import torch
import torch.nn.functional as F
from torch import nn


class FakeQuantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, zero):
        levels = torch.round(x / scale) + zero
        ctx.save_for_backward((levels >= 0) & (levels <= 255))
        return (levels.clamp(0, 255) - zero) * scale

    @staticmethod
    def backward(ctx, grad):
        (inside,) = ctx.saved_tensors
        return grad * inside, None, None


class QuantizedActivation(nn.Module):
    def __init__(self, momentum=0.01):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("low", torch.zeros(()))
        self.register_buffer("high", torch.ones(()))

    def forward(self, x):
        if self.training:
            low, high = torch.aminmax(x.detach())
            self.low.lerp_(low.clamp(max=0), self.momentum)
            self.high.lerp_(high.clamp(min=0), self.momentum)
        scale = ((self.high - self.low) / 255).clamp(min=1e-8)
        return FakeQuantize.apply(x, scale, torch.round(-self.low / scale))


class QuantizedConv(nn.Conv2d):
    def quantized(self):
        scale = self.weight.detach().abs().amax(dim=(1, 2, 3)).clamp(min=1e-8) / 127
        zeros = torch.zeros_like(scale, dtype=torch.int32)
        return torch.fake_quantize_per_channel_affine(self.weight, scale, zeros, 0, -127, 127)

    def forward(self, x):
        return F.conv2d(x, self.quantized(), self.bias, self.stride, self.padding)


class ConvNormActivation(nn.Sequential):
    def __init__(self, before, after, kernel=3, stride=1, relu=True):
        super().__init__(
            QuantizedConv(before, after, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(inplace=True) if relu else nn.Identity(),
            QuantizedActivation(),
        )


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.one = ConvNormActivation(before, after, stride=stride)
        self.two = ConvNormActivation(after, after, relu=False)
        self.shortcut = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = ConvNormActivation(before, after, kernel=1, stride=stride, relu=False)
        self.quantize = QuantizedActivation()

    def forward(self, x):
        return self.quantize(F.relu(self.two(self.one(x)) + self.shortcut(x)))


class ResNet(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512), deep=2, classes=100):
        super().__init__()
        layers, before = [QuantizedActivation(), ConvNormActivation(3, widths[0])], widths[0]
        for number, width in enumerate(widths):
            for again in range(deep):
                layers.append(Residual(before, width, 2 if number and not again else 1))
                before = width
        self.body, self.head = nn.Sequential(*layers), nn.Linear(before, classes)

    def forward(self, x):
        return self.head(self.body(x).mean(dim=(2, 3)))


torch.manual_seed(0)
model = ResNet().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

model.train()
for step in range(3):
    images, labels = torch.randn(64, 3, 96, 96, device="cuda"), torch.randint(0, 100, (64,), device="cuda")
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
