"""Kernels for CUDA that other libraries register while the GPUs are on: ours goes before them.

Whatever can register one is followed: `torch.library`, and libraries that are loaded. What has no
shapes of its own, or asks for values to tell them, says so to the C++ side, which has other ways.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from typing import Any

import torch
from torch.library import Library

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

# A kernel for one of these decides what runs on a GPU, or whether shapes are told.
_KEYS = ("CUDA", "CompositeExplicitAutograd", "Meta")


def patch_foreign_operators(patches: Patches) -> None:
    patches.set_all(Library, impl=_impl(Library.impl), fallback=_fallback(Library.fallback),
                    _impl_with_aoti_compile=_compiled_impl(Library._impl_with_aoti_compile))
    patches.set(torch.ops, "load_library", _loaded(torch.ops.load_library, is_of_torch=True))
    patches.set(ExtensionFileLoader, "exec_module",
                _loaded(ExtensionFileLoader.exec_module, is_of_torch=False))
    patches.set(torch.library, "get_ctx", _context(torch.library.get_ctx))
    trivial = torch._library.utils.can_generate_trivial_fake_impl
    patches.set(torch._library.utils, "can_generate_trivial_fake_impl", _trivial(trivial))


def _impl(impl: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(impl)
    def impl_behind_ours(self: Library, op_name: Any, fn: Any, dispatch_key: str = "",
                         *args: Any, **kwargs: Any) -> None:
        impl(self, op_name, fn, dispatch_key, *args, **kwargs)
        _stand_over(self, op_name, dispatch_key)

    return impl_behind_ours


def _compiled_impl(impl: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(impl)
    def impl_behind_ours(self: Library, op_name: Any, dispatch_key: str = "") -> None:
        impl(self, op_name, dispatch_key)
        _stand_over(self, op_name, dispatch_key)

    return impl_behind_ours


def _stand_over(owner: Library, op_name: Any, dispatch_key: str) -> None:
    if (dispatch_key or owner.dispatch_key) in _KEYS:
        name = op_name if isinstance(op_name, str) else op_name.name()
        library().stand_over(name if "::" in name else f"{owner.ns}::{name}")


def _fallback(fallback: Callable[..., None]) -> Callable[..., None]:
    """PyTorch has room for one on each key, and on CUDA's that is ours."""
    @functools.wraps(fallback)
    def fallback_unless_ours(self: Library, fn: Any, dispatch_key: str = "", **kwargs: Any) -> None:
        if (dispatch_key or self.dispatch_key) != "CUDA":
            fallback(self, fn, dispatch_key, **kwargs)

    return fallback_unless_ours


def _loaded(load: Callable[..., Any], is_of_torch: bool) -> Callable[..., Any]:
    @functools.wraps(load)
    def load_behind_ours(*args: Any, **kwargs: Any) -> Any:
        try:
            return load(*args, **kwargs)
        finally:
            library().stand_over_library(is_of_torch)

    return load_behind_ours


def _context(get_ctx: Callable[[], Any]) -> Callable[[], Any]:
    """Fake kernels ask for it to make up a size that follows from values."""
    @functools.wraps(get_ctx)
    def get_ctx_or_tell() -> Any:
        try:
            return get_ctx()
        except RuntimeError:
            library().tell_fake_missing()
            raise

    return get_ctx_or_tell


def _trivial(can_generate: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Asked of an operator that nobody gave a fake kernel: the last chance before an error."""
    @functools.wraps(can_generate)
    def can_generate_or_tell(op: Any) -> bool:
        can = can_generate(op)
        if not can:
            library().tell_fake_missing()
        return can

    return can_generate_or_tell
