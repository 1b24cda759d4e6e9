"""Loads the C++ side before torch, and only where that is possible."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from tidemark.torch_match import check_torch, load_extension


class TooLate(RuntimeError):
    """torch was imported first: its idea of CUDA is fixed in this process."""


def find_torch() -> Path:
    """The folder of the torch package, without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("torch is not installed in this environment (pip install torch)")
    return Path(spec.submodule_search_locations[0])


def load() -> ModuleType:
    """Loads the virtual GPUs. Raises TooLate where torch was imported before."""
    if "tidemark._phantom" in sys.modules:
        return sys.modules["tidemark._phantom"]
    if "torch" in sys.modules:
        raise TooLate(
            "torch is already imported in this process; virtual GPUs must be loaded before it "
            "(use `tidemark estimate`, or tidemark.estimate(fn), which starts a fresh process)"
        )
    check_torch()
    # A real GPU stays out of sight: the process must behave alike with and without one.
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    libraries = find_torch() / "lib"
    for name in ("libtorch_global_deps.so", "libc10.so", "libtorch_cpu.so"):
        if (libraries / name).exists():
            mode = ctypes.RTLD_GLOBAL if "global" in name else ctypes.DEFAULT_MODE
            ctypes.CDLL(str(libraries / name), mode=mode)
    # A CUDA build's libtorch_cuda.so comes with it, and must register before ours does: c10's
    # registries replace by the preferred in silence, and write to stderr what they skip. Where only
    # `import torch` finds all of CUDA's libraries, that is written, and ours counts as well.
    with contextlib.suppress(OSError):
        ctypes.CDLL(str(libraries / "libtorch.so"))
    return load_extension("_phantom")


def library() -> ModuleType:
    """The loaded C++ side."""
    return sys.modules["tidemark._phantom"]
