"""Mixture of experts: a router sends each token to two experts, so shapes depend on values."""

import argparse

import torch
import torch.nn as nn


class Experts(nn.Module):
    def __init__(self, width: int, experts: int, chosen: int) -> None:
        super().__init__()
        self.chosen = chosen
        self.router = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))
            for _ in range(experts))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores, choice = self.router(x).softmax(dim=-1).topk(self.chosen, dim=-1)
        mixed = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            tokens, rank = (choice == number).nonzero(as_tuple=True)
            if tokens.numel() == 0:
                continue
            answer = expert(x[tokens]) * scores[tokens, rank].unsqueeze(-1)
            mixed = mixed.index_add(0, tokens, answer)
        return mixed


class Net(nn.Module):
    def __init__(self, width: int, layers: int, experts: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.layers = nn.ModuleList(Experts(width, experts, chosen=2) for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        return x


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--experts", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    model = Net(args.width, args.layers, args.experts).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        x = torch.randn(args.tokens, args.width, device="cuda")
        loss = (model(x) - x.roll(1, dims=0)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
