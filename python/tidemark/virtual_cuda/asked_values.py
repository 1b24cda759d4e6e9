"""What a program writes to get at values: where nobody knows these, a note says so in its own words."""

from __future__ import annotations

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

WORDS = {
    "item": ".item()",
    "tolist": ".tolist()",
    "numpy": ".numpy()",
    "__bool__": "bool(tensor)",
    "__int__": "int(tensor)",
    "__index__": "int(tensor)",
    "__float__": "float(tensor)",
    "__complex__": "complex(tensor)",
    "__format__": "format(tensor)",
    "__repr__": "print(tensor)",
}


def patch_asked_values(patches: Patches) -> None:
    for name, word in WORDS.items():
        patches.set(torch.Tensor, name, library().asked_method(getattr(torch.Tensor, name), word))
