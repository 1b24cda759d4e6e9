"""A CUDA machine that is not there: torch.cuda answers, tensors have shapes and no memory.

`load` must come before torch is imported; `open_gpus` and `close_gpus` turn the machine on and off.
"""

from tidemark.virtual_cuda.library import library, load
from tidemark.virtual_cuda.machine import close_gpus, open_gpus

__all__ = ["close_gpus", "library", "load", "open_gpus"]
