"""Two AdamW steps of a model with the shapes of Llama 3 8B, made in one of three ways.

    tidemark estimate bench/llama_8b.py cuda|moved|transformers
"""

from __future__ import annotations

import sys

import torch
from torch import nn
from torch.nn import functional as F

WORDS, WIDTH, INNER, HEADS, GROUPS, LAYERS = 128_256, 4096, 14_336, 32, 8, 32
BATCH, LENGTH = 1, 2048
HEAD = WIDTH // HEADS


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.output = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(WIDTH, GROUPS * HEAD, bias=False) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            layer(x).view(BATCH, LENGTH, -1, HEAD).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.output(y.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.attention = Attention()
        self.gate, self.up = (nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before_attention(x))
        y = self.before_mlp(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.blocks(self.words(ids))))


def make_model(way: str) -> nn.Module:
    if way == "cuda":
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            return Llama()
    if way == "moved":
        return Llama().to("cuda", torch.bfloat16)
    from transformers import AutoModelForCausalLM, LlamaConfig

    config = LlamaConfig(
        vocab_size=WORDS, hidden_size=WIDTH, intermediate_size=INNER, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=GROUPS,
    )
    return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).to("cuda")


def main() -> None:
    (way,) = sys.argv[1:]
    model = make_model(way)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        ids = torch.randint(WORDS, (BATCH, LENGTH), device="cuda")
        answer = model(ids)
        words = answer if isinstance(answer, torch.Tensor) else answer.logits
        F.cross_entropy(words.flatten(0, 1).float(), ids.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
