"""safetensors' files: written where they are held, and read without their bytes."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import os
from typing import Any

from tidemark.virtual_cuda.patches import Patches


def patch_safetensors(patches: Patches, scratch: str) -> None:
    if importlib.util.find_spec("safetensors") is None:
        return
    package = importlib.import_module("safetensors")
    of_torch = importlib.import_module("safetensors.torch")
    of_numpy = importlib.import_module("safetensors.numpy")
    serialize_file, load_file = package.serialize_file, of_torch.load_file
    numbers = itertools.count()

    def serialize_held(tensors: Any, filename: Any, *args: Any, **kwargs: Any) -> None:
        """It renames its file by a call of the kernel that nobody can stand before: let it do so in
        the scratch folder."""
        made = os.path.join(scratch, f"safetensors-{os.getpid()}-{next(numbers)}")
        serialize_file(tensors, made, *args, **kwargs)
        os.replace(made, filename)

    # For a GPU it would read every byte.
    @functools.wraps(load_file)
    def load_mapped(filename: Any, device: Any = "cpu", **kwargs: Any) -> dict[str, Any]:
        return {name: tensor.to(device)
                for name, tensor in load_file(filename, device="cpu", **kwargs).items()}

    for owner in (package, of_torch, of_numpy):
        patches.set(owner, "serialize_file", serialize_held)
    patches.set(of_torch, "load_file", load_mapped)
