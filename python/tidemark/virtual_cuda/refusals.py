"""What a virtual GPU cannot do says so, with what to do instead."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any, Callable

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def _refuse(what: str, instead: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{what} cannot run on tidemark's virtual GPUs: {instead}")

    return refuse


def _eager_compile(model: Any = None, **_: Any) -> Any:
    """torch.compile that compiles nothing; as decorator too."""
    warnings.warn("tidemark: torch.compile is skipped, the program runs eagerly", stacklevel=2)
    _note_compile()
    return (lambda inner: inner) if model is None else model


def _eager_module_compile(module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
    _note_compile()


def _note_compile() -> None:
    library().set_meta("used.compile", "yes")
    library().diagnose("compile-ignored", library().current_source(),
                       "torch.compile was left out, the program ran eagerly: compiled, its peak "
                       "may be lower")


def patch_refusals(patches: Patches) -> None:
    patches.set(torch.cuda, "_compile_kernel", _refuse("A CUDA kernel", "give it a meta kernel"))
    patches.set(torch, "compile", _eager_compile)
    patches.set(torch.nn.Module, "compile", _eager_module_compile)
    nothing = {name: lambda *args, **kwargs: None for name in ("range_push", "range_pop", "mark")}
    patches.set_all(torch.cuda.nvtx, **nothing)
    patches.set(torch.cuda.nvtx, "range", lambda *args, **kwargs: contextlib.nullcontext())
    patches.set(torch.cuda, "cudart", _refuse("The CUDA runtime", "leave out calls of cudart()"))
