"""PyTorch's compiler stays unloaded while nobody compiles: loading it takes as long as torch itself.

Optimizers and some operators load it only to be left out of what it compiles.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import torch
from torch.optim.optimizer import _use_grad_for_differentiable

from tidemark.virtual_cuda.patches import Patches

_COMPILER = "torch._dynamo"
_LEFT_OUT = "__dynamo_disable"  # PyTorch keeps there how a function is called that is left out


def patch_late_compiler(patches: Patches) -> None:
    if _COMPILER in sys.modules:
        return
    owner: Any = torch  # its types do not have the name
    left_out = owner._disable_dynamo(lambda: None).__code__
    step = _use_grad_for_differentiable(lambda: None).__code__
    for function in gc.get_referrers(left_out, step):
        if not isinstance(function, FunctionType):
            continue
        if function.__code__ is left_out:
            _call_plainly(patches, function)
        elif step.co_freevars == _STEP.co_freevars:
            _set_code(patches, function, _STEP)


def _call_plainly(patches: Patches, left_out: FunctionType) -> None:
    """Until the program has loaded the compiler itself: then as PyTorch would have it."""
    function = _of_closure(left_out, "fn")
    if function is None or hasattr(function, _LEFT_OUT):
        return

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _COMPILER not in sys.modules:
            return function(*args, **kwargs)
        forget()
        return left_out(*args, **kwargs)

    def forget() -> None:
        if getattr(function, _LEFT_OUT, None) is call:
            vars(function).pop(_LEFT_OUT, None)  # another thread may be here, too

    setattr(function, _LEFT_OUT, call)
    patches.call_afterwards(forget)


def _of_closure(function: FunctionType, name: str) -> Any:
    values = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return values[name].cell_contents if name in values else None


def _set_code(patches: Patches, function: FunctionType, code: CodeType) -> None:
    before = function.__code__
    function.__code__ = code
    patches.call_afterwards(lambda: setattr(function, "__code__", before))


def _with_grad_as_asked(func: Callable[..., Any]) -> Callable[..., Any]:
    """What PyTorch puts around an optimizer's step, without the marks for its compiler."""

    def step(*args: Any, **kwargs: Any) -> Any:
        before = torch.is_grad_enabled()
        try:
            torch.set_grad_enabled(args[0].defaults["differentiable"])
            return func(*args, **kwargs)
        finally:
            torch.set_grad_enabled(before)

    return step


# Reads `torch` and `func` alone, which the functions that get it have, too.
_STEP = _with_grad_as_asked(lambda: None).__code__
