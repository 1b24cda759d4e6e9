"""Kernels of Triton that are launched by hand: refused, with the line and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tidemark.virtual_cuda.later_imports import when_imported
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def patch_triton(patches: Patches) -> None:
    def patch(jit: ModuleType) -> None:
        kernel = jit.KernelInterface  # what is written kernel[grid](...), tuned or not
        patches.set(kernel, "__getitem__", _launcher(kernel.__getitem__))

    when_imported(patches, "triton.runtime.jit", patch)


def _launcher(with_grid: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def launcher(kernel: Any, grid: Any) -> Callable[..., Any]:
        def launch(*args: Any, **kwargs: Any) -> Any:
            devices = {value.device.type for value in (*args, *kwargs.values())
                       if isinstance(value, torch.Tensor)}
            if "meta" in devices:
                return None  # inside torch.library.triton_op: only shapes are asked for
            if devices == {"cpu"}:
                return with_grid(kernel, grid)(*args, **kwargs)
            raise RuntimeError(
                f"The Triton kernel `{_name(kernel)}` cannot run on tidemark's virtual GPUs, at "
                f"{library().current_source()}: call it inside an operator that tells its shapes "
                "(torch.library.triton_op, or torch.library.custom_op and its register_fake)")

        return launch

    return launcher


def _name(kernel: Any) -> str:
    """Of the function itself, inside what tunes it."""
    while not hasattr(kernel, "__name__") and hasattr(kernel, "fn"):
        kernel = kernel.fn
    return str(getattr(kernel, "__name__", "kernel"))
