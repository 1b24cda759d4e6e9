"""The programs whose allocations are recorded: small trainings, streams, a graph, random sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import nn

MIB = 1 << 20


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(batch, length, 3, -1, 64).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class Gpt(nn.Module):
    def __init__(self, width: int = 512, layers: int = 6, words: int = 8000) -> None:
        super().__init__()
        self.embedding, self.norm = nn.Embedding(words, width), nn.LayerNorm(width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(layers)))
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.blocks(self.embedding(tokens))))


def loss_of(model: nn.Module, tokens: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def train_gpt(lengths: Sequence[int] = (256, 256, 256), autocast: bool = False) -> None:
    model = Gpt().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for length in lengths:
        tokens = torch.randint(0, 8000, (8, length), device="cuda")
        with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
            loss = loss_of(model, tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def train_conv(batches: Sequence[int] = (32, 48, 24, 40)) -> None:
    def layer(inputs: int, outputs: int, stride: int = 1) -> nn.Module:
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
                             nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

    model = nn.Sequential(layer(3, 64, 2), layer(64, 64), layer(64, 128, 2), layer(128, 128),
                          layer(128, 256, 2), layer(256, 256), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(256, 100)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for batch in batches:
        images = torch.randn(batch, 3, 160, 160, device="cuda")
        loss = F.cross_entropy(model(images), torch.randint(0, 100, (batch,), device="cuda"))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()


def train_on_two_streams() -> None:
    side, here = torch.cuda.Stream(), torch.cuda.current_stream()
    model = Gpt(layers=3).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(6):
        with torch.cuda.stream(side):
            tokens = torch.randint(0, 8000, (8, 128 + 32 * (step % 3)), device="cuda")
            weight = torch.randn(4 << 20, device="cuda").mul_(2)
            extra = model.embedding.weight.detach() * 2
        here.wait_stream(side)
        tokens.record_stream(here)
        weight.record_stream(here)
        loss = loss_of(model, tokens) + weight.mean()
        loss.backward()
        del weight
        optimizer.step()
        optimizer.zero_grad()
        del tokens, extra
        if step % 2:
            torch.cuda.synchronize()


def capture_graph() -> None:
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
    inputs = torch.randn(64, 512, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            model(inputs).sum().backward()
            model.zero_grad()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (model(inputs).relu() * 2).sum().backward()
    for _ in range(3):
        graph.replay()
        torch.randn(300, 400, device="cuda") * 2
        model(inputs).sum().backward()
    KEPT.append(graph)


KEPT: list[object] = []  # lives until the recording is written


def allocate_at_random(seed: int, keep: int = 3 << 30, streams: int = 1, empty: bool = False) -> None:
    chance = random.Random(seed)
    all_streams = [torch.cuda.current_stream()] + [torch.cuda.Stream() for _ in range(streams - 1)]
    alive: list[torch.Tensor] = []
    for turn in range(3000):
        held = sum(tensor.numel() for tensor in alive)
        if alive and (held > keep or chance.random() < 0.42):
            tensor = alive.pop(chance.randrange(len(alive)))
            if streams > 1 and chance.random() < 0.3:
                tensor.record_stream(chance.choice(all_streams))
            del tensor
        else:
            size = int(2 ** chance.uniform(0, chance.choice([12, 18, 21, 24.5, 27.6])))
            with torch.cuda.stream(chance.choice(all_streams)):
                try:
                    alive.append(torch.empty(min(size, 200 * MIB), dtype=torch.uint8, device="cuda"))
                except torch.cuda.OutOfMemoryError:
                    del alive[::4]
        if empty and turn % 400 == 399:
            torch.cuda.empty_cache()
        if streams > 1 and turn % 50 == 0:
            torch.cuda.synchronize()


def within(limit: int, program: Callable[[], None]) -> None:
    """The program, with so many bytes of the GPU's memory."""
    torch.cuda.set_per_process_memory_fraction(limit / torch.cuda.get_device_properties(0).total_memory)
    program()


# Name, settings, program.
PROGRAMS: dict[str, tuple[str, Callable[[], None]]] = {
    "gpt_default": ("", train_gpt),
    "gpt_lengths": ("", lambda: train_gpt((256, 192, 320, 100, 333), autocast=True)),
    "gpt_expandable": ("expandable_segments:True", lambda: train_gpt((256, 192, 320, 100))),
    "conv_default": ("", train_conv),
    "conv_roundup": ("roundup_power2_divisions:4", train_conv),
    "conv_roundup_list": ("roundup_power2_divisions:[16:2,64:4,>:8]", train_conv),
    "conv_maxsplit": ("max_split_size_mb:32", lambda: train_conv((32, 48, 24, 40, 31, 57))),
    "streams_default": ("", train_on_two_streams),
    "streams_expandable": ("expandable_segments:True", train_on_two_streams),
    "random_default": ("", lambda: allocate_at_random(0)),
    "random_maxsplit": ("max_split_size_mb:64", lambda: allocate_at_random(1)),
    "random_expandable": ("expandable_segments:True", lambda: allocate_at_random(2)),
    "random_empty": ("", lambda: allocate_at_random(3, empty=True)),
    "random_expandable_empty": ("expandable_segments:True", lambda: allocate_at_random(4, empty=True)),
    "random_streams": ("", lambda: allocate_at_random(5, streams=3)),
    "random_streams_expandable": ("expandable_segments:True", lambda: allocate_at_random(6, streams=3)),
    "random_gc": ("garbage_collection_threshold:0.6",
                  lambda: within(1200 * MIB, lambda: allocate_at_random(7, 900 * MIB))),
    "random_limit": ("", lambda: within(900 * MIB, lambda: allocate_at_random(8, 800 * MIB))),
    "random_limit_maxsplit": ("max_split_size_mb:40",
                              lambda: within(900 * MIB, lambda: allocate_at_random(9, 750 * MIB))),
    "random_limit_expandable": ("expandable_segments:True",
                                lambda: within(900 * MIB, lambda: allocate_at_random(10, 850 * MIB))),
    "random_gc_maxsplit_roundup": (
        "garbage_collection_threshold:0.5,max_split_size_mb:100,roundup_power2_divisions:8",
        lambda: within(1500 * MIB, lambda: allocate_at_random(11, 1100 * MIB))),
    "graph": ("", capture_graph),
}
