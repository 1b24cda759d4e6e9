"""The idiom of PyTorch's first example: train and test by epoch, a larger batch for the test,
StepLR."""

import argparse
import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SCALE = int(os.environ.get("WILD_SCALE", "1"))


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.edges, self.shapes = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.hidden, self.digit = nn.Linear(64 * 12 * 12, 128), nn.Linear(128, 10)
        self.forget = nn.Dropout(0.3)

    def forward(self, images):
        found = F.relu(self.shapes(F.relu(self.edges(images))))
        pooled = self.forget(F.max_pool2d(found, 2)).flatten(1)
        return F.log_softmax(self.digit(F.relu(self.hidden(pooled))), dim=1)


def digits(count):
    return TensorDataset(torch.randn(count, 1, 28, 28), torch.randint(10, (count,)))


def train_epoch(model, batches, optimizer, device):
    model.train()
    for images, labels in batches:
        optimizer.zero_grad()
        loss = F.nll_loss(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        print(f"  loss {loss.item():.4f}")


@torch.no_grad()
def test(model, batches, device):
    model.eval()
    right = lost = 0.0
    for images, labels in batches:
        scores, labels = model(images.to(device)), labels.to(device)
        lost += F.nll_loss(scores, labels, reduction="sum").item()
        right += (scores.argmax(dim=1) == labels).sum().item()
    count = len(batches.dataset)
    print(f"test: loss {lost / count:.4f}, {right:.0f} of {count} right")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32 * SCALE)
    parser.add_argument("--test-batch-size", type=int, default=256 * SCALE)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(1)
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda" if on_gpu else "cpu")
    loading = {"num_workers": 1, "pin_memory": True} if on_gpu else {}
    known = DataLoader(digits(3 * options.batch_size), options.batch_size, shuffle=True, **loading)
    unseen = DataLoader(digits(options.test_batch_size), options.test_batch_size, **loading)
    model = DigitNet().to(device)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(options.epochs):
        print(f"epoch {epoch}")
        train_epoch(model, known, optimizer, device)
        test(model, unseen, device)
        schedule.step()
    torch.save(model.state_dict(), "digits.pt")


if __name__ == "__main__":
    main()
