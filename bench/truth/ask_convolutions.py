"""Asks a GPU what cuDNN takes inside random convolutions of many kinds; one a line, for fit_convolutions.py.

    python bench/truth/ask_convolutions.py --out asked.jsonl.xz [--seconds 300] [--jobs 14] [--seed 1000]

The kinds are those of nets in use: squares of one to thirteen taps, stems, patches, heads, products, depthwise and
grouped ones, sounds, volumes, rows and columns, transposed ones; channels, sides and batches as they come there.
A row is sizes of input and weight, strides, paddings, dilations, groups, type, channels last, transposed, and the
bytes of forward, input gradient and weight gradient.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

MOST_TENSOR_BYTES, MOST_WEIGHT_BYTES, MOST_PRODUCTS = 1.0e9, 2e8, 6e11
CHANNELS = (3, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 72, 80, 96, 112, 128, 144, 160, 192, 224, 256, 288, 320, 384, 448,
            512, 576, 640, 768, 960, 1024, 1280, 1536, 2048)
OFTEN = {16: 3, 24: 3, 32: 6, 48: 3, 64: 10, 96: 4, 128: 10, 160: 2, 192: 3, 256: 10, 320: 3, 384: 3, 512: 8, 640: 2,
         768: 3, 1024: 4, 2048: 3}
FEW = (1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 18, 19, 21, 24, 36, 80, 81)
SIDES = (4, 6, 7, 8, 10, 12, 14, 15, 16, 20, 24, 27, 28, 30, 32, 35, 40, 48, 52, 56, 60, 64, 71, 80, 96, 104, 112, 128,
         149, 160, 192, 224, 256, 320, 384, 512)
LENGTHS = (50, 100, 128, 200, 256, 400, 500, 512, 800, 1000, 1024, 2000, 2048, 3000, 4000, 4096, 8000, 8192, 12000,
           16000, 16384, 32768, 64000)
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256)
ROWS_AND_COLUMNS = ((1, 7), (7, 1), (1, 3), (3, 1), (5, 1), (1, 5), (9, 1), (1, 11), (1, 21), (21, 1), (3, 5), (20, 5))
VOLUMES = (*[(3, 3, 3)] * 5, *[(1, 3, 3)] * 3, *[(3, 1, 1)] * 3, *[(1, 1, 1)] * 3, (2, 2, 2), (1, 7, 7), (3, 7, 7),
           (5, 5, 5), (7, 7, 7), (1, 2, 2))
KINDS = {"square": 30, "head": 14, "product": 18, "sound": 10, "volume": 10, "row": 6, "turned": 7, "depthwise": 7,
         "grouped": 8, "stem": 7, "patch": 6}
Shape = tuple[list[int], list[int], list[int], list[int], list[int]]  # sides, kernel, stride, padding, dilation


class Question:
    """A random convolution; its sizes by kind."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.dtype = dice.choices(("float32", "float16", "bfloat16"), (2, 1, 1))[0]
        self.channels_last = dice.random() < 0.5
        self.batch, self.groups, self.transposed = dice.choice(BATCHES), 1, False
        self.inputs, self.outputs = self.channels(), self.channels()
        if dice.random() < 0.35:
            self.outputs = self.inputs
        kind = dice.choices(list(KINDS), list(KINDS.values()))[0]
        made: Shape = getattr(self, kind)()
        self.sides, self.kernel, self.stride, self.padding, self.dilation = made
        self.channels_last = self.channels_last and len(self.sides) > 1

    def channels(self) -> int:
        return self.dice.choices(CHANNELS, [OFTEN.get(one, 1) for one in CHANNELS])[0]

    def image(self, sides: tuple[int, ...] = SIDES) -> list[int]:
        side = self.dice.choice(sides)
        return [side, side if self.dice.random() < 0.75 else self.dice.choice(sides)]

    def square(self) -> Shape:
        kernel = self.dice.choices((1, 3, 5, 7, 2, 4, 6, 8, 9, 11, 13), (10, 16, 4, 3, 1, 2, 1, 1, 1, 1, 1))[0]
        stride = self.dice.choices((1, 2, 3, 4), (10, 5, 1, 1))[0]
        dilation = self.dice.choices((1, 2, 4, 6, 12), (14, 1, 1, 1, 1))[0] if kernel == 3 else 1
        padding = dilation * (kernel // 2) if self.dice.random() < 0.85 else 0
        return self.image(), [kernel] * 2, [stride] * 2, [padding] * 2, [dilation] * 2

    def grouped(self) -> Shape:
        self.inputs = self.dice.choice((64, 128, 192, 256, 512, 1024))
        self.outputs = self.inputs if self.dice.random() < 0.8 else 2 * self.inputs
        self.groups = self.dice.choice((2, 4, 8, 16, 32, 64))
        return self.square()

    def head(self) -> Shape:
        self.outputs = self.dice.choice(FEW)
        kernel = self.dice.choice((1, 1, 1, 3, 3, 3, 4, 5, 7))
        if self.dice.random() < 0.3:
            return self.of_any_sides(1 if kernel == 1 else 3)
        stride = self.dice.choice((1, 1, 1, 1, 1, 2))
        return self.image(), [kernel] * 2, [stride] * 2, [kernel // 2] * 2, [1] * 2

    def product(self) -> Shape:
        if self.dice.random() < 0.3:
            self.inputs = self.dice.choice((1, 2, 3, 4, 5, 6, 12, 18, 30))
        stride = self.dice.choice((1, 1, 1, 1, 1, 2))
        return self.image(), [1] * 2, [stride] * 2, [0] * 2, [1] * 2

    def of_any_sides(self, kernel: int) -> Shape:
        if self.dice.random() < 0.5:
            sides = [self.dice.choice(LENGTHS)]
        else:
            side = self.dice.choice((16, 32, 48, 64, 80, 96, 128))
            self.inputs, self.batch = self.dice.choice((8, 16, 32, 64, 128)), self.dice.choice((1, 2, 4, 8))
            sides = [self.dice.choice((8, 16, 32, 64, side)), side, side]
        n = len(sides)
        return sides, [kernel] * n, [1] * n, [kernel // 2] * n, [1] * n

    def sound(self) -> Shape:
        kernel = self.dice.choice((1, 2, 3, 3, 3, 5, 7, 8, 9, 10, 11, 15, 16, 31, 41, 80, 128))
        stride = self.dice.choices((1, 2, 3, 4, 5), (10, 4, 1, 2, 1))[0]
        dilation = self.dice.choice((1, 1, 1, 2, 4, 8, 16, 64, 256)) if kernel in (2, 3, 5, 7, 11) else 1
        padding = dilation * (kernel - 1) // 2 if self.dice.random() < 0.8 else 0
        if self.dice.random() < 0.15:
            self.inputs = 1
        if self.dice.random() < 0.2:
            self.groups, self.outputs = self.dice.choice((4, 16, self.inputs)), self.inputs
        return [self.dice.choice(LENGTHS)], [kernel], [stride], [padding], [dilation]

    def volume(self) -> Shape:
        kernel = list(self.dice.choice(VOLUMES))
        strides = kernel if kernel in ([2, 2, 2], [1, 2, 2]) else self.dice.choices(
            ([1, 1, 1], [2, 2, 2], [1, 2, 2]), (6, 2, 2))[0]
        few = (1, 2, 3, 4, 8, 16, 32, 45, 64, 96, 128, 144, 230, 256, 288, 320, 512)
        self.inputs, self.batch = self.dice.choice(few), self.dice.choice((1, 2, 3, 4, 8, 16))
        self.outputs = self.inputs if self.dice.random() < 0.4 else self.dice.choice(few)
        side = self.dice.choice((7, 8, 14, 16, 20, 28, 32, 40, 48, 56, 64, 80, 96, 112))
        sides = [self.dice.choice((4, 8, 16, 32, side, side)), side,
                 side if self.dice.random() < 0.7 else self.dice.choice((16, 32, 48, 96, 112))]
        return sides, kernel, list(strides), [k // 2 if k % 2 else 0 for k in kernel], [1] * 3

    def row(self) -> Shape:
        kernel = list(self.dice.choice(ROWS_AND_COLUMNS))
        stride = [self.dice.choice((1, 1, 2, 3)) if k > 1 else 1 for k in kernel]
        return ([self.dice.choice(SIDES), self.dice.choice((1, 2, 3, 5, 7, 11, 17, 35, 40, 64, 80, 128, 256))], kernel,
                stride, [k // 2 for k in kernel], [1, 1])

    def turned(self) -> Shape:
        self.transposed = True
        n = self.dice.choice((2, 2, 2, 1, 3))
        sides = {1: (32, 64, 128, 256, 512, 1024, 2048, 4096), 2: (1, 4, 7, 8, 14, 16, 28, 32, 64, 128),
                 3: (4, 5, 8, 10, 16, 32)}[n]
        of_sounds = ((16, 8, 4), (4, 2, 1), (10, 5, 2), (2, 2, 0))
        of_images = ((4, 2, 1), (2, 2, 0), (3, 2, 1), (3, 1, 1), (4, 1, 0), (5, 2, 2), (8, 4, 2), (6, 2, 2))
        kernel, stride, padding = self.dice.choice(of_sounds if n == 1 else of_images)
        return [self.dice.choice(sides)] * n, [kernel] * n, [stride] * n, [padding] * n, [1] * n

    def depthwise(self) -> Shape:
        self.inputs = self.outputs = self.groups = self.dice.choice(CHANNELS[4:])
        kernel = self.dice.choice((3, 3, 3, 5, 5, 7, 7, 9, 11, 13, 27, 31))
        stride = self.dice.choices((1, 2), (4, 1))[0]
        return [self.dice.choice(SIDES)] * 2, [kernel] * 2, [stride] * 2, [kernel // 2] * 2, [1] * 2

    def stem(self) -> Shape:
        self.inputs, self.outputs = self.dice.choice((1, 3, 3, 3, 4, 6, 9, 12)), self.dice.choice(CHANNELS[2:19])
        kernel, stride = self.dice.choice((3, 4, 5, 7, 8, 9, 11)), self.dice.choice((1, 2, 2, 4))
        padding = kernel // 2 if self.dice.random() < 0.8 else 0
        side = self.dice.choice((28, 32, 64, 84, 96, 128, 160, 192, 224, 240, 256, 299, 320, 384, 416, 512, 640))
        return [side] * 2, [kernel] * 2, [stride] * 2, [padding] * 2, [1] * 2

    def patch(self) -> Shape:
        kernel, self.inputs = self.dice.choice((2, 4, 7, 8, 14, 16, 32)), self.dice.choice((1, 3, 3, 3, 4, 64, 96, 192, 384))
        self.outputs = self.dice.choice((64, 96, 128, 192, 384, 512, 768, 1024))
        return ([kernel * self.dice.choice((4, 7, 8, 12, 14, 16, 24, 28))] * 2, [kernel] * 2, [kernel] * 2, [0] * 2,
                [1] * 2)

    def made_sides(self) -> list[int]:
        sides = zip(self.sides, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        if self.transposed:
            return [(i - 1) * s - 2 * p + d * (k - 1) + 1 for i, k, s, p, d in sides]
        return [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in sides]

    def row_of(self) -> list[Any] | None:
        """None where there is nothing to ask, or more than a moment's work."""
        made, given = self.made_sides(), prod(self.sides)
        if min(made) < 1 or self.inputs % self.groups or self.outputs % self.groups:
            return None
        first, second = (self.inputs, self.outputs) if self.transposed else (self.outputs, self.inputs)
        weight = [first, second // self.groups, *self.kernel]
        itemsize = 4 if self.dtype == "float32" else 2
        products = self.batch * prod(weight) * (given if self.transposed else prod(made))
        tensors = self.batch * (self.inputs * given + self.outputs * prod(made)) * itemsize
        if tensors > MOST_TENSOR_BYTES or prod(weight) * itemsize > MOST_WEIGHT_BYTES or products > MOST_PRODUCTS:
            return None
        return [[self.batch, self.inputs, *self.sides], weight, self.stride, self.padding, self.dilation, self.groups,
                self.dtype, self.channels_last, self.transposed]


def answer(row: list[Any]) -> list[int]:
    """What each of the three parts had and gave back."""
    import torch

    x_sizes, w_sizes, stride, padding, dilation, groups, dtype, channels_last, transposed = row

    def tensor(sizes: list[int]) -> Any:
        made = torch.empty(sizes, device="cuda", dtype=getattr(torch, dtype))
        last = torch.channels_last if len(sizes) == 4 else torch.channels_last_3d
        return made.to(memory_format=last) if channels_last else made

    def taken(call: Callable[[], Any]) -> tuple[int, Any]:
        torch.cuda.reset_peak_memory_stats()
        result = call()
        stats = torch.cuda.memory_stats()
        return stats["requested_bytes.all.peak"] - stats["requested_bytes.all.current"], result

    how = (stride, padding, dilation, transposed, [0] * len(stride), groups)
    x, w = tensor(x_sizes), tensor(w_sizes)
    forward, y = taken(lambda: torch.ops.aten.convolution(x, w, None, *how))
    gradient = torch.empty_like(y)
    wanted = ([True, False, False], [False, True, False])
    return [forward, *(taken(lambda mask=mask: torch.ops.aten.convolution_backward(
        gradient, x, w, None, *how, mask))[0] for mask in wanted)]


def ask(out: Path, seed: int, seconds: float) -> None:
    import torch

    torch.cuda.set_per_process_memory_fraction(0.1)
    dice, end, asked = random.Random(seed), time.monotonic() + seconds, 0
    with out.open("w") as file:
        while time.monotonic() < end:
            row = Question(dice).row_of()
            if row is None:
                continue
            try:
                told = answer(row)
            except RuntimeError:  # no kernel, or no memory for it
                torch.cuda.empty_cache()
                continue
            file.write(json.dumps([*row, told], separators=(",", ":")) + "\n")
            asked += 1
            if asked % 200 == 0:
                torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=14, help="processes that ask at the same time")
    parser.add_argument("--seed", type=int, default=1000)
    arguments = parser.parse_args()
    if arguments.jobs == 1:
        return ask(arguments.out, arguments.seed, arguments.seconds)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.jsonl" for number in range(arguments.jobs)]
        workers = [subprocess.Popen([sys.executable, __file__, "--out", str(file), "--jobs", "1", "--seconds",
                                     str(arguments.seconds), "--seed", str(arguments.seed + number)])
                   for number, file in enumerate(files)]
        if any([worker.wait() for worker in workers]):
            raise SystemExit("a worker failed")
        with lzma.open(arguments.out, "wt") as out:
            for file in files:
                out.write(file.read_text())


if __name__ == "__main__":
    main()
