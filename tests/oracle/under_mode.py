"""Runs a script under a dispatch mode that does nothing: under_mode.py SCRIPT [ARGS...]

Any such mode changes the program: while one is on, autograd no longer adds gradients in place, and
some operators take other paths. FakeTensorMode and MemTracker are dispatch modes.
"""

import runpy
import sys
from pathlib import Path

from torch.utils._python_dispatch import TorchDispatchMode


class Nothing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
    with Nothing():
        runpy.run_path(sys.argv[0], run_name="__main__")
