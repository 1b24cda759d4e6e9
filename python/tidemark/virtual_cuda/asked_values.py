"""What a program writes to get at values: where nobody knows these, a note says so in its own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tidemark.virtual_cuda.host_values import host_storage
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
        patches.set(torch.Tensor, name, _asked(getattr(torch.Tensor, name), word))


def _asked(method: Callable[..., Any], word: str) -> Callable[..., Any]:
    def asked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not library().begin_question(word):  # inside of another one, which is what the program wrote
            return method(self, *args, **kwargs)
        try:
            storage = host_storage(self)
            if storage is not None:
                library().note_asked_of(storage._cdata)
            return method(self, *args, **kwargs)
        finally:
            library().end_question()

    asked.__name__, asked.__doc__ = method.__name__, method.__doc__
    return asked
