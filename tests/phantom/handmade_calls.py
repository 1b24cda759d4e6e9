"""Calls that the catalogue of operators does not have: resizing, views of views, odd dtypes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from calls import Call
from torch.nn import functional

Function = Callable[..., Any]


def _matrix() -> torch.Tensor:
    return torch.arange(24.0).reshape(4, 6)


def _image() -> torch.Tensor:
    return torch.arange(2.0 * 3 * 8 * 8).reshape(2, 3, 8, 8) / 100


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _halves(dtype: torch.dtype) -> Function:
    def divide(whole: torch.Tensor) -> torch.Tensor:
        with _default_dtype(dtype):
            return whole / 2

    return divide


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(memory_format=torch.channels_last)


def _convolution_and_norm(image: torch.Tensor, weight: torch.Tensor) -> Any:
    made = functional.conv2d(image, weight, padding=1)
    normed = functional.batch_norm(made, None, None, training=True)
    return made, normed, functional.max_pool2d(normed, 2), functional.relu(normed)


def _float8(tensor: torch.Tensor) -> Any:
    small = tensor.to(torch.float8_e4m3fn)
    return small, small.t(), small[1:3], small.view(torch.uint8), small.to(torch.bfloat16)


# name, function, arguments. The same function with other arguments tells a memo that confuses
# them; the order of the list is the order of the calls.
_TABLE: list[tuple[str, Function, tuple[Any, ...]]] = [
    ("resize_ grows", lambda t: t.resize_(8, 9), (_matrix(),)),
    ("resize_ shrinks", lambda t: t.resize_(2, 3), (_matrix(),)),
    ("resize_ of a view", lambda t: t[1:].resize_(5, 5), (_matrix(),)),
    ("resize_as_", lambda t, u: t.resize_as_(u), (_matrix(), torch.zeros(3, 3, 3))),
    ("set_ to a tensor", lambda t, u: t.set_(u), (_matrix(), torch.zeros(3))),
    ("set_ to a storage", lambda t, u: t.set_(u.untyped_storage(), 2, (2, 2), (1, 4)),
     (_matrix(), torch.zeros(12))),
    ("set_ to nothing", lambda t: t.set_(), (_matrix(),)),
    ("storage().resize_(0)", lambda t: (t.untyped_storage().resize_(0), t)[1], (_matrix(),)),
    ("storage().resize_ grows", lambda t: (t.untyped_storage().resize_(500), t)[1], (_matrix(),)),
    ("views of views", lambda t: t.t()[1:5].unsqueeze(1).expand(4, 3, 4)[..., ::2], (_matrix(),)),
    ("as_strided that overlaps", lambda t: t.as_strided((5, 6), (2, 1), 3), (_matrix(),)),
    ("as_strided_", lambda t: t.as_strided_((3, 3), (6, 2), 1), (_matrix(),)),
    ("unfold overlaps", lambda t: t.unfold(1, 3, 1).mul(2), (_matrix(),)),
    ("views in place", lambda t: t.unsqueeze_(0).t_() if t.dim() < 2 else t.t_().unsqueeze_(1),
     (_matrix(),)),
    ("squeeze_", lambda t: t.squeeze_(), (torch.zeros(1, 4, 1),)),
    ("add of a view to itself", lambda t: t[0].add_(t[1]), (_matrix(),)),
    ("out= is an argument", lambda t: torch.mul(t, 2, out=t), (_matrix(),)),
    ("out= is a view", lambda t: torch.sum(t, 0, out=t[0]), (_matrix(),)),
    ("two arguments, one storage", lambda t: torch.maximum(t, t.view(6, 4).view(4, 6)), (_matrix(),)),
    ("no elements", lambda t: (t @ t.t(), t.sum(), t.t(), torch.cat([t, t])), (torch.zeros(0, 3),)),
    ("no elements, inner", lambda t: t @ torch.zeros_like(t).t(), (torch.zeros(3, 0),)),
    ("no dimensions", lambda t: (t + 1, t.unsqueeze(0), t.expand(3), t.item()), (torch.tensor(3),)),
    ("scalar of the CPU", lambda t: t * torch.tensor(2.0, dtype=torch.float64), (_matrix(),)),
    ("expanded", lambda t: (t.exp(), t.sum(0), t.contiguous()), (torch.ones(1, 5).expand(4, 5),)),
    ("complex views", lambda t: (t.conj(), t.real, t.imag, t.conj().imag, t.conj() + 1, t.H),
     (torch.ones(3, 3, dtype=torch.complex64),)),
    ("bool", lambda t: (~t, t & t, t.sum(), t.all(), t.any(0), t.float()),
     (torch.eye(4, dtype=torch.bool),)),
    ("float8", _float8, (_matrix(),)),
    ("dtypes meet", lambda a, b: (a + b, a * 2.5, torch.cat([a, b.long()]), a == b),
     (torch.arange(6), torch.ones(6, dtype=torch.float16))),
    ("half of whole numbers", _halves(torch.float32), (torch.arange(4),)),
    ("half of them in double", _halves(torch.float64), (torch.arange(4),)),
    ("arange", lambda t: torch.arange(0, 2.5, 0.5, device=t.device), (_matrix(),)),
    ("arange, smaller steps", lambda t: torch.arange(0, 2.5, 0.25, device=t.device), (_matrix(),)),
    ("dropout of nothing", lambda t: functional.dropout(t, 0.0), (_matrix(),)),
    ("dropout of some", lambda t: functional.dropout(t, 0.5), (_matrix(),)),
    ("dropout of all", lambda t: functional.dropout(t, 1.0), (_matrix(),)),
    ("channels last", _convolution_and_norm, (_channels_last(_image()), torch.ones(4, 3, 3, 3))),
    ("channels last weight", _convolution_and_norm,
     (_image(), _channels_last(torch.ones(4, 3, 3, 3)))),
    ("channels first", _convolution_and_norm, (_image(), torch.ones(4, 3, 3, 3))),
    ("to another format", lambda t: (t.to(memory_format=torch.channels_last), t.double()),
     (_image(),)),
    ("split by lengths", lambda t: t.split([1, 2, 3], 1), (_matrix(),)),
    ("split evenly", lambda t: (t.chunk(3), t.unbind(1), t.tensor_split(5)), (_matrix(),)),
    ("index", lambda t: (t[:, [0, 2]], t[[1], [1]], t[None, ..., 0]), (_matrix(),)),
    ("mask", lambda t, m: (t[m], t[:, m[0]], t.masked_fill(m, 0)), (_matrix(), _matrix() > 7)),
    ("new_zeros and like", lambda t: (t.new_zeros(3), torch.empty_like(t.t()), t.new_full((2,), 1)),
     (_matrix(),)),
    ("foreach", lambda a, b: torch._foreach_add([a, b], 1.0), (_matrix(), _matrix().t())),
    ("foreach, two lists", lambda a, b: torch._foreach_mul([a, b], [a, a]), (_matrix(), _matrix())),
    ("foreach, spaced", lambda a: torch._foreach_sqrt([a[:, ::2], a[1:]]), (_matrix(),)),
    ("foreach, whole numbers", lambda a: torch._foreach_div([a], 2.0), (torch.arange(4),)),
    ("foreach, dtypes meet", lambda a, b: torch._foreach_mul([a], [b]),
     (_matrix(), _matrix().double())),
    ("foreach in place", lambda a, b: (torch._foreach_add_([a, b], 1.0), a, b),
     (_matrix(), _matrix())),
    ("foreach norm", lambda a: torch._foreach_norm([a, a.t()]), (_matrix(),)),
    ("foreach, expanded", lambda a: torch._foreach_neg([a.expand(3, 4)]), (torch.ones(1, 4),)),
]


def handmade_calls(chains: int = 150) -> Iterator[Call]:
    """A GPU's answers are kept under a call's name: one that changes gets another name."""
    for name, function, arguments in _TABLE:
        yield Call("handmade", name, function, arguments, way=name)
    for number in range(chains):
        walk, stops = _chain(number)
        yield Call("chain", f"chain {number}", walk, (_matrix(),), way=stops)


def _zeros(count: int, device: torch.device) -> torch.Tensor:
    return torch.zeros(count, dtype=torch.long, device=device)


def _chain(number: int) -> tuple[Function, str]:
    """A random walk of views and changes, every stop a result, and the numbers of its steps."""
    choose = random.Random(number)
    steps = [choose.randrange(len(_STEPS)) for _ in range(choose.randint(2, 7))]
    sizes = [choose.randint(0, 3) for _ in steps]

    def walk(tensor: torch.Tensor) -> list[torch.Tensor]:
        stops = []
        for step, size in zip(steps, sizes):
            try:
                tensor = _STEPS[step](tensor, size)
            except (RuntimeError, IndexError, AssertionError):  # of meta kernels written in Python
                continue  # this step cannot be taken from here, on any device
            stops.append(tensor)
        return stops

    return walk, f"{steps} {sizes}"


_STEPS: list[Callable[[torch.Tensor, int], torch.Tensor]] = [
    lambda t, n: t.transpose(0, -1),
    lambda t, n: t.unsqueeze(min(n, t.dim())),
    lambda t, n: t.squeeze(),
    lambda t, n: t.narrow(0, min(n, t.size(0)), 1),
    lambda t, n: t[::2],
    lambda t, n: t[..., n:],
    lambda t, n: t.select(-1, n),
    lambda t, n: t.expand(n + 1, *t.shape),
    lambda t, n: t.reshape(-1),
    lambda t, n: t.view(-1, 2),
    lambda t, n: t.flatten(0, 1),
    lambda t, n: t.contiguous(),
    lambda t, n: t.clone(),
    # Into a tensor whose elements overlap no real kernel writes; PyTorch's meta kernels would.
    lambda t, n: t.add_(n) if 0 not in t.stride() else t,
    lambda t, n: t.mul(n + 0.5),
    lambda t, n: t.to(torch.float64),
    lambda t, n: t.to(torch.int32),
    lambda t, n: torch.cat([t, t]),
    lambda t, n: t.sum(0, keepdim=True),
    lambda t, n: t.as_strided((n + 1, 2), (1, n), 1),
    lambda t, n: t.resize_(n + 1, 4),
    lambda t, n: t.detach().t_(),
    lambda t, n: t.flip(0),
    lambda t, n: t.repeat(n + 1, 1),
    lambda t, n: t.roll(1, 0),
    lambda t, n: t.tril(),
    lambda t, n: t.unfold(0, 1, 1),
    lambda t, n: t > n,
    lambda t, n: t.index_select(0, _zeros(n if t.size(0) else 0, t.device)),
    lambda t, n: t.sort(0).values,
]
