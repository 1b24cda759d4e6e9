"""A convolutional classifier in float whose whole training step, optimizer and all, is replayed as one CUDA graph."""

import torch
from torch import nn

BATCH, SIDE, CLASSES = 512, 64, 200


def stage(before, after):
    return [
        nn.Conv2d(before, after, 3, padding=1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
        nn.Conv2d(after, after, 3, padding=1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    ]


torch.manual_seed(0)
model = nn.Sequential(
    *stage(3, 32),
    *stage(32, 64),
    *stage(64, 128),
    *stage(128, 256),
    nn.Flatten(),
    nn.Linear(256 * (SIDE // 16) ** 2, 1024),
    nn.ReLU(inplace=True),
    nn.Dropout(0.2),
    nn.Linear(1024, CLASSES),
).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)

static_images = torch.randn(BATCH, 3, SIDE, SIDE, device="cuda")
static_labels = torch.randint(0, CLASSES, (BATCH,), device="cuda")

side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        criterion(model(static_images), static_labels).backward()
        optimizer.step()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    static_loss = criterion(model(static_images), static_labels)
    static_loss.backward()
    optimizer.step()

batches = [(torch.randn(BATCH, 3, SIDE, SIDE), torch.randint(0, CLASSES, (BATCH,))) for _ in range(3)]
for images, labels in batches:
    static_images.copy_(images)
    static_labels.copy_(labels)
    graph.replay()
print(f"loss {static_loss.item():.4f}")
