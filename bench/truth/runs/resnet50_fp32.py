"""ResNet-50 in float, 64 images of 224 x 224, AdamW."""

import torch
from models.resnet import Classifier
from torch import nn

torch.manual_seed(0)
model = Classifier().to("cuda")
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

model.train()
for step in range(4):
    images = torch.randn(64, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (64,), device="cuda")
    output = model(images)
    loss = criterion(output, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    correct = (output.argmax(1) == labels).sum().item()
    print(f"step {step} loss {loss.item():.4f} correct {correct}")
