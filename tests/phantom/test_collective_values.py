"""What comes from other ranks is assumed, never known; with one rank all stays known."""

from __future__ import annotations

import json
from typing import Any

PROGRAM = """
import json, os, sys
from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import library, load, open_gpus
load()
import torch
import torch.distributed as dist
from tidemark.estimation.distributed import patch_distributed
from tidemark.estimation.ranks import environment_of
from tidemark.virtual_cuda.patches import Patches
size = int(sys.argv[1])
os.environ.update(environment_of(0, size, size))
open_gpus(CATALOGUE["h100"])
patch_distributed(Patches())
dist.init_process_group("nccl")
seen = {}

def certainty(tensor):
    storage = tensor.cuda().untyped_storage()  # a number keeps nothing alive: held while it is asked
    return library().certainty(storage._cdata)

def see(name, *tensors):
    seen[name] = [[tensor.tolist(), certainty(tensor)] for tensor in tensors]

def counts(device="cuda"):
    return torch.tensor([3, 4], device=device)

for device in ("cuda", "cpu"):
    summed, largest = counts(device), counts(device)
    dist.all_reduce(summed)
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    see("sum " + device, summed)
    see("max " + device, largest)
mine, theirs = counts(), counts()
dist.broadcast(mine, src=0)
see("broadcast of mine", mine)
if size > 1:
    dist.broadcast(theirs, src=1)
    see("broadcast of another's", theirs)
    dist.recv(mine, src=1)
    see("received", mine)
gathered = [torch.zeros(2, dtype=torch.long, device="cuda") for _ in range(size)]
dist.all_gather(gathered, counts())
see("gathered", *gathered)
whole = torch.zeros(2 * size, dtype=torch.long, device="cuda")
dist.all_gather_into_tensor(whole, counts())
see("gathered into one", whole)
part = torch.zeros(2, dtype=torch.long, device="cuda")
dist.reduce_scatter_tensor(part, torch.arange(2 * size, device="cuda"))
see("reduced and scattered", part)
swapped = torch.zeros(2 * size, dtype=torch.long, device="cuda")
dist.all_to_all_single(swapped, torch.arange(2 * size, device="cuda"))
see("exchanged", swapped)
import torch.distributed._functional_collectives as functional
see("functional", functional.all_reduce(counts(), "max", dist.group.WORLD).clone())
print(json.dumps(seen))
"""


def run(fresh_process: Any, size: int) -> dict[str, list[Any]]:
    done = fresh_process(PROGRAM, str(size))
    assert done.returncode == 0, done.stderr
    seen: dict[str, list[Any]] = json.loads(done.stdout)
    return seen


def test_what_several_ranks_make_is_assumed(fresh_process: Any) -> None:
    seen = run(fresh_process, 4)
    # PyTorch's fake group decides what these are, and has changed it.
    for name in ("reduced and scattered", "exchanged"):
        assert [certainty for _, certainty in seen.pop(name)] == ["assumed"]
    assert seen == {
        "sum cuda": [[[12, 16], "assumed"]],  # four ranks with 3 and 4 each
        "sum cpu": [[[12, 16], "assumed"]],
        "max cuda": [[[3, 4], "assumed"]],
        "max cpu": [[[3, 4], "assumed"]],
        "broadcast of mine": [[[3, 4], "known"]],
        "broadcast of another's": [[[3, 4], "assumed"]],
        "received": [[[3, 4], "assumed"]],
        "gathered": [[[3, 4], "known"]] + 3 * [[[3, 4], "assumed"]],
        "gathered into one": [[4 * [3, 4], "assumed"]],
        "functional": [[[3, 4], "assumed"]],
    }


def test_with_one_rank_all_is_known(fresh_process: Any) -> None:
    for name, values in run(fresh_process, 1).items():
        assert [certainty for _, certainty in values] == ["known"], name
