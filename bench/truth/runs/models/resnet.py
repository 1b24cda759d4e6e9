"""A residual convolution net of bottlenecks, as ResNet-50, that gives the maps of its four stages."""

import torch.nn.functional as F
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels, planes, stride=1, dilation=1):
        super().__init__()
        out = planes * 4
        self.conv1 = nn.Conv2d(channels, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, dilation, dilation, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or channels != out:
            self.down = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.down is None else self.down(x)))


class ResNet(nn.Module):
    def __init__(self, blocks=(3, 4, 6, 3), strides=(1, 2, 2, 2), dilations=(1, 1, 1, 1)):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1))
        self.stages, channels = nn.ModuleList(), 64
        for index, (count, stride, dilation) in enumerate(zip(blocks, strides, dilations)):
            stage = []
            for number in range(count):
                stage.append(Bottleneck(channels, 64 << index, 1 if number else stride, dilation))
                channels = 256 << index
            self.stages.append(nn.Sequential(*stage))

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class Classifier(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.body = ResNet()
        self.fc = nn.Linear(2048, classes)

    def forward(self, images):
        return self.fc(F.adaptive_avg_pool2d(self.body(images)[-1], 1).flatten(1))
