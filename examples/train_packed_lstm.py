"""Packed sequences: an LSTM over texts of different lengths, the lengths read from the data."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PADDING = 0


class Tagger(nn.Module):
    def __init__(self, vocabulary: int, width: int, layers: int, tags: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width, padding_idx=PADDING)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, tags)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        lengths = (ids != PADDING).sum(dim=1).cpu()
        packed = pack_padded_sequence(self.tokens(ids), lengths, batch_first=True,
                                      enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.head(states)


def make_batch(batch: int, longest: int, vocabulary: int) -> torch.Tensor:
    ids = torch.randint(1, vocabulary, (batch, longest))
    for row, length in enumerate(torch.linspace(longest // 4, longest, batch).long()):
        ids[row, length:] = PADDING
    return ids.cuda()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--longest", type=int, default=40)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    vocabulary, tags = 5000, 20
    model = Tagger(vocabulary, args.width, args.layers, tags).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(args.steps):
        ids = make_batch(args.batch, args.longest, vocabulary)
        labels = ids.remainder(tags)
        logits = model(ids)
        loss = F.cross_entropy(logits[ids != PADDING], labels[ids != PADDING])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
