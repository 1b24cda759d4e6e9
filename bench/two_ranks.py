"""Two ranks on one GPU that send to each other through gloo: a small GPT, sharded or copied.

    python bench/two_ranks.py WAY              WAY as in WAYS; prints what each rank's allocator held at most
    python bench/two_ranks.py WAY --trackers   PyTorch's tracker and ours on the same training, their rows

NCCL refuses two ranks on one GPU; gloo sends a GPU's tensors by way of the host.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

RANKS = 2
WIDTH, HEADS, BLOCKS, WORDS, LENGTH, BATCH, STEPS = 768, 12, 6, 32000, 512, 4, 3


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_hidden = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention, self.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.hidden = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.attention(self.before_attention(x)).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.projection(seen.transpose(1, 2).flatten(2))
        return x + self.hidden(self.before_hidden(x))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def sharded(model: Gpt, **how: Any) -> nn.Module:
    for block in model.blocks:
        fully_shard(block, **how)
    return fully_shard(model, **how)


WAYS = {
    "ddp": lambda model: DistributedDataParallel(model),
    "ddp, gradients in buckets": lambda model: DistributedDataParallel(model, gradient_as_bucket_view=True),
    "fsdp2": sharded,
    "fsdp2, mixed precision": lambda model: sharded(
        model, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)),
}


def train(model: nn.Module, optimizer: torch.optim.Optimizer, ids: torch.Tensor,
          before_step: Callable[[], None] = lambda: None) -> None:
    for _ in range(STEPS):
        before_step()
        logits = model(ids)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
        del logits
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def job(way: str) -> tuple[nn.Module, torch.optim.Optimizer, torch.Tensor]:
    torch.manual_seed(0)
    model = WAYS[way](Gpt().cuda())
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4), torch.randint(WORDS, (BATCH, LENGTH), device="cuda")


class NothingMode(TorchDispatchMode):
    """PyTorch's trackers are modes, under which autograd takes other ways; ours is none."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def plain(snapshot: Any) -> dict[str, dict[str, int]]:
    """An optimizer's scratch is none of its state to us, so the two are one number; nothing has no row."""
    rows = {}
    for device, row in snapshot.items():
        named = {str(getattr(key, "value", key)).lower(): value for key, value in row.items()}
        named["temp + optstate"] = named.pop("temp") + named.pop("optstate")
        if any(named.values()):
            rows[str(device)] = named
    return rows


def rows_under(kind: Any, way: str, is_ours: bool) -> dict[str, Any]:
    gc.collect()
    model, optimizer, ids = job(way)
    if "fsdp" in way:
        tracker = kind(model, optimizer)
        tracker.track_inputs((ids,))
    else:
        tracker = kind()
        tracker.track_external(model, optimizer, ids)
    with tracker, NothingMode() if is_ours else nullcontext():
        train(model, optimizer, ids, tracker.reset_mod_stats)  # PyTorch's wants that between two steps
    return {"peak": plain(tracker.get_tracker_snapshot("peak")),
            "current": plain(tracker.get_tracker_snapshot("current"))}


def both_trackers(way: str) -> dict[str, Any]:
    from torch.distributed._tools import fsdp2_mem_tracker, mem_tracker

    import tidemark.compat as ours

    name = "FSDPMemTracker" if "fsdp" in way else "MemTracker"
    theirs = getattr(fsdp2_mem_tracker if "fsdp" in way else mem_tracker, name)
    return {"tracker": name, "theirs": rows_under(theirs, way, is_ours=False),
            "ours": rows_under(getattr(ours, name), way, is_ours=True)}


def run_rank(rank: int, way: str, port: int, trackers: bool) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(0)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    told: dict[str, Any] = {"rank": rank, "way": way}
    if trackers:
        told.update(both_trackers(way))
    else:
        train(*job(way))
        told["real"] = torch.cuda.max_memory_allocated()
    dist.barrier()
    sys.stdout.write(f"RANK {json.dumps(told)}\n")
    sys.stdout.flush()
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--trackers", action="store_true")
    args = parser.parse_args()
    torch.multiprocessing.spawn(run_rank, (args.way, free_port(), args.trackers), nprocs=RANKS)


if __name__ == "__main__":
    main()
