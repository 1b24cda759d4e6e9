"""An encoder-decoder translates sequences; padding is masked, the decoder looks only back."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

PADDING = 0


class Translator(nn.Module):
    def __init__(self, vocabulary: int, width: int, layers: int, length: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width, padding_idx=PADDING)
        self.positions = nn.Parameter(torch.zeros(length, width))
        self.transformer = nn.Transformer(width, 4, layers, layers, 4 * width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        return self.tokens(ids) + self.positions[: ids.shape[1]]

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        length = target.shape[1]
        future = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)
        decoded = self.transformer(
            self.embed(source), self.embed(target), tgt_mask=future,
            src_key_padding_mask=source == PADDING, tgt_key_padding_mask=target == PADDING,
            memory_key_padding_mask=source == PADDING)
        return self.head(decoded)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    vocabulary = 8000
    model = Translator(vocabulary, args.width, args.layers, args.length).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
    for step in range(args.steps):
        source = torch.randint(1, vocabulary, (args.batch, args.length)).cuda()
        target = torch.randint(1, vocabulary, (args.batch, args.length + 1)).cuda()
        source[:, -8:] = PADDING
        logits = model(source, target[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PADDING)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
