"""Runs a script as rank 0 of many on the GPU that is here: its process groups send nothing.

    python bench/fake_ranks.py 64 examples/train_llama_fsdp.py --size 1B

Prints the allocator's peak at the end: what one GPU of such a job needs, but for NCCL's own buffers.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

join = dist.init_process_group


def join_alone(*_: Any, **__: Any) -> None:
    join("fake", store=FakeStore(), rank=0, world_size=int(os.environ["WORLD_SIZE"]))


def main() -> None:
    sys.argv = sys.argv[1:]
    ranks = sys.argv.pop(0)
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE=ranks, LOCAL_WORLD_SIZE="1",
                      MASTER_ADDR="localhost", MASTER_PORT="29500")
    dist.init_process_group = join_alone
    runpy.run_path(sys.argv[0], run_name="__main__")
    print("REAL", torch.cuda.max_memory_allocated())


if __name__ == "__main__":
    main()
