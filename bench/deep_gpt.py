"""A deep GPT-like model trained for some steps on `cuda`; writes the seconds of each step.

    python bench/deep_gpt.py SECONDS.json [--layers 48] [--steps 3]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

WORDS, WIDTH, HEADS, BATCH, LENGTH = 50257, 768, 12, 4, 256


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.queries_keys_values = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.queries_keys_values(x).split(WIDTH, dim=2)
        q, k, v = (p.view(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.before_mlp = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.dropout(self.attention(self.before_attention(x)))
        return x + self.dropout(self.down(F.gelu(self.up(self.before_mlp(x)))))


class DeepGPT(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.places(torch.arange(LENGTH, device=ids.device))
        return self.head(self.norm(self.blocks(x)))


def train(layers: int, steps: int, after_step: Callable[[], None] | None) -> list[float]:
    """The seconds of each step."""
    with torch.device("cuda"):
        model = DeepGPT(layers)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        ids = torch.randint(WORDS, (BATCH, LENGTH), device="cuda")
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - start)
        if after_step:
            after_step()
    return seconds


def main(after_step: Callable[[], None] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds")
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    with open(options.seconds, "w") as file:
        json.dump(train(options.layers, options.steps, after_step), file)


if __name__ == "__main__":
    main()
