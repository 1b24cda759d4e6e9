"""Random programs over CPU tensors: what they leave behind must not depend on virtual GPUs being on.

A program is a seed. It makes tensors, large and small, and does things to them; whether it looks at
them in between is left to chance, since looking is what gives large ones their memory.
"""

from __future__ import annotations

import copy
import ctypes
import hashlib
import io
import pickle
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import default_collate

Tensor = torch.Tensor
# The large ones have 1 to 4 MB: some not a multiple of 16 elements, of a page, or of anything.
SIZES = [(512, 1024), (723, 701), (1 << 19,), (3, 300_001), (64, 64), (17,)]
FLOATS = [torch.float32, torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16]


class Run:
    """One run of a program: its tensors, its choices, and what it has seen."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.tensors: list[Tensor] = []
        self.seen: list[Any] = []

    def size(self) -> tuple[int, ...]:
        return self.choose.choice(SIZES)

    def dtype(self) -> torch.dtype:
        return self.choose.choice(FLOATS)

    def number(self) -> float:
        return self.choose.choice([0.0, 1.0, -0.0, 0.02, -1.5, 3.0, 1e-3, 7.25])

    def generator(self) -> torch.Generator | None:
        return self.choose.choice([None, None, torch.Generator().manual_seed(self.choose.randrange(99))])

    def pick(self) -> Tensor:
        return self.choose.choice(self.tensors)

    def floating(self) -> Tensor:
        return self.choose.choice([t for t in self.tensors if t.is_floating_point()])

    def matrix(self) -> Tensor:
        return self.choose.choice([t for t in self.tensors if t.is_floating_point() and t.dim() == 2])

    def see(self, value: Any) -> None:
        self.seen.append(digest(value) if isinstance(value, Tensor) else value)


def digest(tensor: Tensor) -> str:
    data = tensor.detach().reshape(-1).contiguous().view(torch.uint8).numpy()
    return f"{tensor.dtype} {tuple(tensor.shape)} {hashlib.sha1(data).hexdigest()}"


# Makers return a tensor.


def make_constant(run: Run) -> Tensor:
    size, dtype = run.size(), run.dtype()
    return run.choose.choice([
        lambda: torch.zeros(size, dtype=dtype),
        lambda: torch.ones(size, dtype=dtype),
        lambda: torch.full(size, run.number(), dtype=dtype),
        lambda: torch.empty(size, dtype=dtype).fill_(run.number()),
        lambda: torch.zeros_like(run.pick()),
        lambda: torch.full_like(run.pick(), 3),
        lambda: torch.empty(size, dtype=dtype).fill_(torch.tensor(run.number())),
        lambda: torch.ones(size, dtype=torch.int64),
    ])()


def make_random(run: Run) -> Tensor:
    size, dtype, generator = run.size(), run.dtype(), run.generator()
    return run.choose.choice([
        lambda: torch.rand(size, dtype=dtype, generator=generator),
        lambda: torch.randn(size, dtype=dtype, generator=generator),
        lambda: torch.empty(size, dtype=dtype).normal_(run.number(), 0.5, generator=generator),
        lambda: torch.empty(size, dtype=dtype).uniform_(-2, 3, generator=generator),
        lambda: torch.randint(0, 9, size, generator=generator),
        lambda: torch.randperm(200_000, generator=generator),
        lambda: torch.bernoulli(torch.full(size, 0.3), generator=generator),
        lambda: torch.normal(torch.zeros(size), torch.ones(size), generator=generator),
        lambda: torch.empty(size).exponential_(generator=generator),
    ])()


def make_weight(run: Run) -> Tensor:
    weight = nn.Parameter(torch.empty(run.choose.choice([(512, 1024), (723, 701)])))
    run.choose.choice([
        lambda: nn.init.kaiming_uniform_(weight, a=5**0.5),
        lambda: nn.init.kaiming_normal_(weight),
        lambda: nn.init.xavier_uniform_(weight),
        lambda: nn.init.trunc_normal_(weight, std=0.02),
        lambda: nn.init.trunc_normal_(weight, 0, 1, 1, 1.5),
        lambda: nn.init.constant_(weight, 0.1),
        lambda: nn.init.eye_(weight),
        lambda: nn.init.sparse_(weight, 0.1),
    ])()
    return weight.detach()


def make_layer(run: Run) -> Tensor:
    return run.choose.choice([
        lambda: nn.Linear(1024, 512).weight,
        lambda: nn.Embedding(600, 1024, padding_idx=3).weight,
        lambda: copy.deepcopy(nn.Linear(700, 800)).half().weight,
        lambda: nn.LSTM(300, 300).weight_hh_l0,
    ])().detach()


def make_ramp(run: Run) -> Tensor:
    return run.choose.choice([
        lambda: torch.arange(600_000, dtype=torch.float32),
        lambda: torch.linspace(0, 1, 700_001),
        lambda: torch.from_numpy(np.arange(400_000, dtype=np.float64)),
        lambda: torch.eye(600),
        lambda: torch.ones(700, 700).tril(),
    ])()


def make_computed(run: Run) -> Tensor:
    a = run.floating()
    return run.choose.choice([
        lambda: a * run.number(),
        lambda: 2 * a - 1,
        lambda: a / 3,
        lambda: a + run.number(),
        lambda: torch.add(a, 2, alpha=3),
        lambda: a.neg().exp(),
        lambda: a.clone(),
        lambda: a.to(run.dtype()),
        lambda: a.double().float(),
        lambda: copy.deepcopy(a),
        lambda: torch.cat([a, a]),
        lambda: torch.stack([a, a])[0],
        lambda: a.sqrt().nan_to_num(),
        lambda: torch.where(a > 0, a, -a),
        lambda: a[a > 0.5],
        lambda: (a < 0.15).nonzero(),
        lambda: nn.functional.dropout(a, 0.3),
        lambda: default_collate([a, a]),
        lambda: a.sum(0),
        lambda: a.contiguous().view(torch.uint8),
        lambda: (a * torch.tensor(2, dtype=torch.float64)),
    ])()


# Changers do something to a tensor of the program.


def change_numbers(run: Run) -> None:
    a, n = run.floating(), run.number()
    run.choose.choice([
        lambda: a.mul_(n),
        lambda: a.add_(n),
        lambda: a.sub_(n),
        lambda: a.div_(3),
        lambda: a.add_(n, alpha=3),
        lambda: a.clamp_(-1, 2),
        lambda: a.clamp_min_(0.25),
        lambda: a.clamp_(max=0.5),
        lambda: a.neg_(),
        lambda: a.mul_(0.1).erfinv_(),
        lambda: a.mul_(torch.tensor(1.25)),
        lambda: a.abs_().sqrt_(),
        lambda: a.zero_(),
        lambda: a.fill_(n),
        lambda: a.normal_(),
        lambda: a.uniform_(generator=run.generator()),
        lambda: a.bernoulli_(0.4),
        lambda: a.masked_fill_(a > 0.3, 2),
        lambda: a.cumsum_(0),
    ])()


def change_part(run: Run) -> None:
    a = run.floating()
    rows = a.shape[0]
    run.choose.choice([
        lambda: a[0].fill_(1),
        lambda: a[rows // 2:].normal_(),
        lambda: a[: rows // 2].uniform_(-1, 1),
        lambda: a[1:3].mul_(5),
        lambda: a.view(-1)[7:70].zero_(),
        lambda: a.t().fill_(2) if a.dim() == 2 else a.neg_(),
        lambda: a.as_strided((5, 2), (2, 1), 3).add_(1),
        lambda: a.__setitem__(0, 7),
        lambda: a.index_fill_(0, torch.tensor([0, rows - 1]), 4),
        lambda: a[::2].normal_(),
    ])()


def change_by_another(run: Run) -> None:
    a = run.floating()
    like = [t for t in run.tensors if t.shape == a.shape]
    b = run.choose.choice(like)
    run.choose.choice([
        lambda: a.copy_(b),
        lambda: a.add_(b),
        lambda: torch.add(a, 1, out=a),
        lambda: torch.mul(a, 2, out=torch.empty_like(a)),
        lambda: a[: a.shape[0] // 2].copy_(b[: a.shape[0] // 2]),
        lambda: a.data.copy_(b),
        lambda: a.lerp_(b.to(a.dtype), 0.5),
    ])()


def change_past_operators(run: Run) -> None:
    a = run.floating()
    if a.dtype == torch.bfloat16 or not a.is_contiguous():
        return

    def write_by_pointer() -> None:
        ctypes.memset(a.data_ptr() + 16, 0, 8)

    def write_by_numpy() -> None:
        a.numpy().reshape(-1)[3:9] = 2

    def read_file() -> None:
        view = a.view(-1).numpy()
        io.BytesIO(b"\0" * view.nbytes).readinto(view)  # type: ignore[arg-type]

    run.choose.choice([write_by_pointer, write_by_numpy, read_file])()


def change_storage(run: Run) -> None:
    a = run.floating()
    run.choose.choice([
        lambda: a.share_memory_(),
        lambda: run.tensors.append(torch.empty(0, dtype=a.dtype).set_(a.untyped_storage(), 0, (9,))),
        lambda: run.tensors.append(a.clone().resize_(a.numel() + 500_000)[: a.numel()]),
        lambda: run.tensors.append(a.pin_memory() if torch.cuda.is_available() else a.clone()),
        lambda: run.tensors.append(pickle.loads(pickle.dumps(a))),
        lambda: run.tensors.append(saved_and_loaded(a)),
        lambda: grow_storage(a.clone()),
    ])()


def grow_storage(a: Tensor) -> None:
    before = a.untyped_storage().nbytes()
    a.untyped_storage().resize_(before + 2_000_000)
    a.untyped_storage().resize_(before)


def saved_and_loaded(a: Tensor) -> Tensor:
    buffer = io.BytesIO()
    torch.save(a, buffer)
    buffer.seek(0)
    loaded: Tensor = torch.load(buffer)
    return loaded


# Lookers see something of a tensor.


def look(run: Run) -> None:
    a = run.pick()
    run.choose.choice([
        lambda: run.see(a),
        lambda: run.see(a.reshape(-1)[5].item()),
        lambda: run.see(a.reshape(-1)[2:8].tolist()),
        lambda: run.see(a.untyped_storage()[4]),
        lambda: run.see(torch.equal(a, a.clone())),
        lambda: run.see(int((a != 0).sum())),
        lambda: run.see(torch.rand(2).tolist()),
        lambda: run.see(hash(str(a))),
    ])()


def look_in_threads(run: Run) -> None:
    some = [run.pick() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for one in pool.map(digest, some):
            run.see(one)


MAKERS: list[Callable[[Run], Tensor]] = [
    make_constant, make_random, make_random, make_weight, make_layer, make_ramp, make_computed,
    make_computed,
]
CHANGERS: list[Callable[[Run], None]] = [
    change_numbers, change_numbers, change_part, change_by_another, change_past_operators,
    change_storage,
]


def take_step(run: Run) -> None:
    kind = run.choose.random()
    if kind < 0.45:
        run.tensors.append(run.choose.choice(MAKERS)(run))
    elif kind < 0.85:
        run.choose.choice(CHANGERS)(run)
    else:
        run.choose.choice([look, look, look_in_threads])(run)


def run_program(seed: int, steps: int = 14) -> list[Any]:
    """All that the program of this seed sees, its tensors at the end, and the generator's state."""
    torch.manual_seed(seed)
    run = Run(seed)
    run.tensors = [torch.rand(512, 1024), torch.zeros(723, 701)]
    with torch.no_grad():
        for _ in range(steps):
            try:
                take_step(run)
            except (RuntimeError, IndexError, TypeError, ValueError) as error:  # it must be the same
                run.see(f"{type(error).__name__}: {str(error).splitlines()[0]}")
        for tensor in run.tensors:
            run.see(tensor)
    run.see(torch.get_rng_state())
    return run.seen
