"""Trains bench/deep_gpt.py's model under FakeTensorMode, and with --tracker under MemTracker too.

    python bench/fake_steps.py SECONDS.json [--tracker] [--layers 48] [--steps 3]

The virtual device is on, for on a CPU build a backward over fake `cuda` tensors aborts without one;
none of our kernels is in play.
"""

from __future__ import annotations

import contextlib
import sys

from tidemark.gpus import CATALOGUE, DEFAULT_GPU
from tidemark.virtual_cuda import load, open_gpus

load()


def main() -> None:
    open_gpus(CATALOGUE[DEFAULT_GPU], kernels=False)
    import deep_gpt
    from torch._subclasses import fake_tensor
    from torch.distributed._tools.mem_tracker import MemTracker

    # As on every CPU build: no real tensor is made on the device, which has no kernels here.
    fake_tensor.FakeTensorMode.avoid_device_init = True
    fake_tensor.init_gpu_context = lambda device: None
    tracker = None
    if "--tracker" in sys.argv:
        sys.argv.remove("--tracker")
        tracker = MemTracker()
    with fake_tensor.FakeTensorMode(), tracker or contextlib.nullcontext():
        deep_gpt.main(after_step=tracker.reset_mod_stats if tracker else None)


if __name__ == "__main__":
    main()
