"""Random programs over PyTorch's catalogue of operators, each in a child of its own process tree.

A program calls an operator in one of PyTorch's modes or wrappers, and does things to what comes back.
Whatever it raises is an answer; a signal is a crash. Run as a script under `tidemark estimate`: it
prints a line for every program that was ended by a signal, and how many gave a result.

    tidemark estimate tests/phantom/random_programs.py SEED COUNT
"""

from __future__ import annotations

import copy
import io
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from calls import Place
from operator_samples import DTYPES, gradient_of, operators
from sample_arguments import sample_arguments
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

BATCH = 25  # programs a child runs, if it lives
SECONDS = 30  # that one may take: who hangs is ended by SIGALRM

Function = Callable[..., Any]


@dataclass
class Program:
    """One operator with its arguments on a virtual GPU; `name` says how to make it again."""

    name: str
    function: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    way: Function
    afterwards: list[Function]

    def run(self) -> None:
        result = self.way(self.function, self.args, self.kwargs)
        for action in self.afterwards:
            for tensor in tensors_in(result):
                attempt(lambda: action(tensor))


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def on_tensors(change: Function, value: Any) -> Any:
    return tree_map(lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf, value)


# Ways to call.


def plainly(function: Function, args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs)


def in_inference_mode(function: Function, args: Any, kwargs: Any) -> Any:
    with torch.inference_mode():
        return function(*args, **kwargs)


def with_made_views(function: Function, args: Any, kwargs: Any) -> Any:
    """Views from outside inside inference mode, and the other way round."""
    with torch.inference_mode():
        args, kwargs = on_tensors(lambda t: t.view(t.shape), (args, kwargs))
    return function(*args, **kwargs)


def as_fakes(function: Function, args: Any, kwargs: Any) -> Any:
    with FakeTensorMode() as mode:
        args, kwargs = on_tensors(mode.from_tensor, (args, kwargs))
        return function(*args, **kwargs)


def among_fakes(function: Function, args: Any, kwargs: Any) -> Any:
    with FakeTensorMode(allow_non_fake_inputs=True):
        made = on_tensors(lambda t: torch.nn.Parameter(torch.empty_like(t)) if t.is_floating_point() else t,
                          args[:1])
        return function(*made, *args[1:], **kwargs)


def traced(function: Function, args: Any, kwargs: Any) -> Any:
    return make_fx(lambda *args: function(*args, **kwargs), tracing_mode="fake")(*args)(*args)


def mapped(function: Function, args: Any, kwargs: Any) -> Any:
    batched = on_tensors(lambda t: torch.stack([t, t]), args)
    dims = tree_map(lambda leaf: 0 if isinstance(leaf, torch.Tensor) else None, batched)
    return torch.func.vmap(lambda *args: function(*args, **kwargs), dims, randomness="same")(*batched)


def total(value: Any) -> torch.Tensor:
    floats = [t for t in tensors_in(value) if t.is_floating_point()]
    return torch.stack([t.sum() for t in floats]).sum()


def differentiated(function: Function, args: Any, kwargs: Any) -> Any:
    return torch.func.grad(lambda *args: total(function(*args, **kwargs)))(*args)


def pushed_forward(function: Function, args: Any, kwargs: Any) -> Any:
    return torch.func.jvp(lambda first: function(first, *args[1:], **kwargs), (args[0],), (args[0],))


def functionalized(function: Function, args: Any, kwargs: Any) -> Any:
    return torch.func.functionalize(lambda *args: function(*args, **kwargs))(*args)


def backwards(function: Function, args: Any, kwargs: Any) -> Any:
    wanting = on_tensors(lambda t: t.detach().requires_grad_(t.is_floating_point()), (args, kwargs))
    return gradient_of(function)(*wanting[0], **wanting[1])


class Plain(torch.Tensor):
    """A subclass that changes nothing."""


def as_subclass(function: Function, args: Any, kwargs: Any) -> Any:
    args, kwargs = on_tensors(lambda t: t.as_subclass(Plain), (args, kwargs))
    return function(*args, **kwargs)


def as_wrapper(function: Function, args: Any, kwargs: Any) -> Any:
    args, kwargs = on_tensors(lambda t: TwoTensor(t, t.clone()), (args, kwargs))
    return function(*args, **kwargs)


class Watching(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


def watched(function: Function, args: Any, kwargs: Any) -> Any:
    with Watching():
        return function(*args, **kwargs)


def cast_by_autocast(function: Function, args: Any, kwargs: Any) -> Any:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return function(*args, **kwargs)


def in_a_thread(function: Function, args: Any, kwargs: Any) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(attempt(lambda: function(*args, **kwargs))))
    thread.start()
    thread.join()
    return results


def on_two_devices(function: Function, args: Any, kwargs: Any) -> Any:
    return function(*args[:1], *on_tensors(lambda t: t.to("cuda:1"), args[1:]), **kwargs)


def with_host_tensors(function: Function, args: Any, kwargs: Any) -> Any:
    return function(*args[:1], *on_tensors(torch.Tensor.cpu, args[1:]), **kwargs)


def as_sparse(function: Function, args: Any, kwargs: Any) -> Any:
    return function(*on_tensors(torch.Tensor.to_sparse, args[:1]), *args[1:], **kwargs)


def as_nested(function: Function, args: Any, kwargs: Any) -> Any:
    def nest(tensor: torch.Tensor) -> torch.Tensor:
        return torch.nested.nested_tensor([tensor, tensor], layout=torch.jagged)

    return function(*on_tensors(nest, args[:1]), *args[1:], **kwargs)


def conjugated(function: Function, args: Any, kwargs: Any) -> Any:
    return function(*on_tensors(lambda t: torch._neg_view(t.conj()), args), **kwargs)


WAYS = [
    plainly, in_inference_mode, with_made_views, as_fakes, as_fakes, among_fakes, traced, mapped,
    differentiated, pushed_forward, functionalized, backwards, backwards, as_subclass, as_wrapper,
    watched, cast_by_autocast, in_a_thread, on_two_devices, with_host_tensors, as_sparse, as_nested,
    conjugated,
]


# What is done to results.


def save_and_load(tensor: torch.Tensor) -> None:
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    torch.load(file, weights_only=False)


def exchange(tensor: torch.Tensor) -> None:
    tensor.data = torch.empty(3, device="cuda", dtype=tensor.dtype)


AFTERWARDS: list[Function] = [
    repr, copy.deepcopy, save_and_load, exchange, torch.Tensor.tolist, torch.Tensor.cpu,
    torch.Tensor.detach, torch.Tensor.data_ptr,
    lambda t: t.to("cuda:1"),
    lambda t: t.add_(1),
    lambda t: t.view(-1).t(),
    lambda t: torch.from_dlpack(t) + 1,
    lambda t: torch.from_dlpack(t.__dlpack__()).clone(),
    lambda t: t.untyped_storage().resize_(0),
    lambda t: t.untyped_storage()[0],
    lambda t: t.untyped_storage().tolist()[:1],
    lambda t: t.set_(),  # type: ignore[no-untyped-call]
    lambda t: t.resize_(7),
    lambda t: t.share_memory_(),
    lambda t: t.pin_memory(),
    lambda t: torch.nn.Parameter(t).grad,
    lambda t: t.numpy(),
    lambda t: t.type(torch.cuda.FloatTensor),
    lambda t: t.sum().backward(),
    lambda t: torch.utils.swap_tensors(t, torch.ones(2, device="cuda")),
]


def make_program(seed: str, number: int) -> Program:
    chosen = random.Random(f"{seed} {number}")
    op = chosen.choice(OPERATORS)
    way = chosen.choice(WAYS)
    afterwards = chosen.sample(AFTERWARDS, 3)
    dtype = chosen.choice([dtype for dtype in DTYPES if dtype in op.dtypes] or sorted(op.dtypes, key=str))
    torch.manual_seed(number)
    samples = sample_arguments(op, dtype, requires_grad=False)
    for _, sample in zip(range(chosen.randrange(1, 6)), samples):
        pass
    place = Place("cuda", known=chosen.random() < 0.5)
    args, kwargs = tree_map(place, ((sample.input, *sample.args), sample.kwargs))
    name = f"program {number}: {op.formatted_name} {dtype} {way.__name__}"
    return Program(name, op.op, args, kwargs, way, afterwards)


OPERATORS = operators()


def attempt(run: Callable[[], Any]) -> Any:
    """What it returns, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except Exception as error:
        return error


def work(seed: str, numbers: list[int], told: int) -> None:
    """The child: says which program comes, and how each ended."""
    for number in numbers:
        os.write(told, f"begin program {number}\n".encode())
        program = attempt(lambda: make_program(seed, number))
        if not isinstance(program, Program):
            os.write(told, f"end: {type(program).__name__}\n".encode())
            continue
        os.write(told, f"made {program.name}\n".encode())
        signal.alarm(SECONDS)
        outcome = attempt(program.run)
        signal.alarm(0)
        os.write(told, f"end: {'' if outcome is None else type(outcome).__name__}\n".encode())


def run_child(seed: str, numbers: list[int]) -> tuple[list[str], int]:
    """What a child told, and the signal that ended it; 0 if none did."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        work(seed, numbers, writing)
        os._exit(0)
    os.close(writing)
    with open(reading) as told:
        lines = told.read().splitlines()
    return lines, max(-os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


def main(seed: str, count: int) -> None:
    left = list(range(count))
    results = raised = 0
    while left:
        lines, ended_by = run_child(seed, left[:BATCH])
        ends = [line for line in lines if line.startswith("end: ")]
        results += ends.count("end: ")
        raised += len(ends) - ends.count("end: ")
        del left[:min(BATCH, len(ends) + (ended_by != 0))]
        if ended_by:
            print(f"ENDED BY {signal.Signals(ended_by).name}: {lines[-1]}", flush=True)
    print(f"{results} gave a result, {raised} raised")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
