"""The idiom of older vision code: DataParallel over all GPUs, a meter class, `module.` in
checkpoints."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, CLASSES, BATCH = 32, 10, 16


class Meter:
    def __init__(self):
        self.total, self.weight = 0.0, 0

    def add(self, value, weight):
        self.total += weight * value
        self.weight += weight

    def mean(self):
        return self.total / self.weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, WIDTH, 3, padding=1), nn.BatchNorm2d(WIDTH), nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(WIDTH, 2 * WIDTH, 3, padding=1), nn.BatchNorm2d(2 * WIDTH), nn.ReLU(inplace=True),
            nn.MaxPool2d(2))
        self.classifier = nn.Linear(2 * WIDTH * 8 * 8, CLASSES)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


@torch.no_grad()
def share_right(output, target, k):
    return (output.topk(k, dim=1).indices == target.unsqueeze(1)).any(dim=1).float().mean()


torch.manual_seed(0)
model = Net()
if torch.cuda.is_available():
    model = nn.DataParallel(model).cuda()
device = next(model.parameters()).device
criterion = nn.CrossEntropyLoss().to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2])
losses, right, best = Meter(), Meter(), 0.0
for epoch in range(3):
    images = torch.rand(BATCH, 3, 32, 32).to(device)
    target = torch.randint(CLASSES, (BATCH,)).to(device)
    output = model(images)
    loss = criterion(output, target)
    losses.add(loss.item(), len(images))
    right.add(share_right(output, target, k=5).item(), len(images))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    best = max(best, right.mean())
    torch.save({"epoch": epoch, "model": model.state_dict(), "best": best,
                "optimizer": optimizer.state_dict()}, "checkpoint.pth.tar")
    print(f"epoch {epoch}: loss {losses.mean():.3f}, {right.mean():.0%} among the first five")
