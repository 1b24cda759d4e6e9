"""Small models of many kinds, and their forward and backward graphs through torch.compile."""

from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch._dynamo.backends.common import aot_autograd


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x + self.second(F.relu(self.norm(self.first(x)))))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.project(x).chunk(3, -1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, 2)
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm(x))
        return x + self.feed(x)


class Language(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.blocks = nn.Sequential(Block(16), Block(16))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.blocks(self.embed(ids)) @ self.embed.weight.T


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = self.gate(x).softmax(-1)
        return sum(weights[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


class Unrolled(nn.Module):
    """A recurrent cell over a sequence, with views of the input and a list of states."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state, states = x[0].clone(), []
        for step in x.unbind(0):
            state = self.cell(step, state)
            states.append(state)
        return torch.stack(states)


class InPlace(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("seen", torch.zeros(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        y.mul_(2).add_(1)
        self.seen.add_(y.detach().sum(0))
        return y.relu_()


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.middle = nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.GroupNorm(2, 4)
        self.up, self.last = nn.ConvTranspose2d(4, 4, 2, stride=2), nn.Conv2d(6, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.cat([self.up(F.silu(self.middle(self.down(x)))), x], 1))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor]]] = {
    "mlp": (mlp, lambda: torch.randn(5, 8)),
    "convolutions": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)),
        lambda: torch.randn(2, 3, 8, 8),
    ),
    "residual": (lambda: nn.Sequential(Residual(4), Residual(4)), lambda: torch.randn(2, 4, 6, 6)),
    "attention": (lambda: Attention(8, 2), lambda: torch.randn(2, 5, 8)),
    "language": (Language, lambda: torch.randint(0, 50, (2, 6))),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True),
        lambda: torch.randn(2, 5, 8),
    ),
    "experts": (Experts, lambda: torch.randn(4, 8)),
    "unrolled": (Unrolled, lambda: torch.randn(3, 2, 6)),
    "in_place": (InPlace, lambda: torch.randn(4, 8)),
    "unet": (UNet, lambda: torch.randn(1, 2, 8, 8)),
    "dropout": (lambda: nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Softmax(-1)), lambda: torch.randn(3, 8)),
}


def capture(name: str, dynamic: bool = False) -> dict[str, torch.fx.GraphModule]:
    """The forward and the backward graph of a model."""
    make_model, make_input = MODELS[name]
    graphs: dict[str, torch.fx.GraphModule] = {}

    def keep(which: str) -> Callable:
        def compiler(module: torch.fx.GraphModule, inputs: object) -> Callable:
            graphs[which] = module
            return module

        return compiler

    torch._dynamo.reset()
    torch.manual_seed(0)
    backend = aot_autograd(fw_compiler=keep("forward"), bw_compiler=keep("backward"))
    model = torch.compile(make_model(), backend=backend, dynamic=dynamic)
    model(make_input()).sum().backward()
    return graphs
