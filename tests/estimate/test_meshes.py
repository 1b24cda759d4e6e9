"""Device meshes, tensor parallelism and FSDP2 on ranks that are not there: no group waits for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

# Without init_process_group: PyTorch's own examples of tensor parallelism leave it to the mesh.
PROGRAM = """
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))
assert dist.get_world_size() == 4 and mesh["tp"].size() == 2
line = init_device_mesh("cuda", (4,))

WIDTH = 1024
def layers():
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH, bias=False), torch.nn.ReLU(),
                               torch.nn.Linear(4 * WIDTH, WIDTH, bias=False))

def train(model):
    optimizer = torch.optim.SGD(model.parameters())
    model(torch.ones(8, WIDTH, device="cuda")).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    kept = sum(p.to_local().nbytes for p in model.parameters())
    print("kept", kept, "of", sum(p.nbytes for p in model.parameters()))

plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
train(parallelize_module(layers().cuda(), line, dict(plan)))
both = parallelize_module(layers().cuda(), mesh["tp"], dict(plan))
train(fully_shard(both, mesh=mesh["dp"]))
with torch.device("meta"):
    late = layers()
for layer in (late[0], late[2]):
    fully_shard(layer)
fully_shard(late)
train(late.to_empty(device="cuda"))
"""


def test_meshes_need_no_other_ranks(estimate: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    done = estimate("--world-size", 4, "--gpus", 4, "--steps", 0, script, timeout=120)
    assert done.exit_code == 0, done.script_output
    # Two matrices of 4 x 1024 x 1024 floats; each rank keeps a quarter of them.
    whole = 2 * 4 * 1024 * 1024 * 4
    assert done.script_output.count(f"kept {whole // 4} of {whole}") == 3
