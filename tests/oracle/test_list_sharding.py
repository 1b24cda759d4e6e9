"""Sharding of list operators, asked once for each kind of element, is what PyTorch answers for all."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import random
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.distributed.tensor._sharding_prop import ShardingPropagator
from tidemark.estimation.list_sharding import asked_once

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
mesh = init_device_mesh("cpu", (4,))
aten, rng = torch.ops.aten, random.Random(0)
original = ShardingPropagator.propagate_op_sharding_non_cached
seen = []

def both(propagator, schema):
    ours = asked_once(counted)(propagator, schema)
    theirs = original(propagator, schema)
    for field in ("output_spec", "needs_redistribute", "use_val_from_redistribute_schema"):
        assert getattr(ours, field) == getattr(theirs, field), (schema, field)
    if theirs.redistribute_schema is None:
        assert ours.redistribute_schema is None
    else:
        assert ours.redistribute_schema.args_schema == theirs.redistribute_schema.args_schema
    return theirs

def counted(propagator, schema):
    seen.append(len(schema.args_schema[0]))
    return original(propagator, schema)

def tensors(kinds):
    return [DTensor.from_local(torch.ones(rows, 3), mesh, [placement], run_check=False)
            for rows, placement in kinds]

ShardingPropagator.propagate_op_sharding_non_cached = both
propagator = DTensor._op_dispatcher.sharding_propagator
propagator.propagate_op_sharding = lambda schema: both(propagator, schema)  # the cache holds the old one
KINDS = [(2, Shard(0)), (5, Shard(0)), (2, Replicate()), (2, Shard(1))]
for length in (2, 9, 30):
    kinds = [rng.choice(KINDS) for _ in range(length)]
    numbers = [rng.random() for _ in range(length)]
    a, b, c = (tensors(kinds) for _ in range(3))
    seen.clear()
    torch._foreach_add_(a, b)
    torch._foreach_mul_(a, 2.0)
    torch._foreach_lerp_(a, b, 0.5)
    torch._foreach_addcdiv_(a, b, c, numbers)
    torch._foreach_sqrt(a)
    torch._foreach_norm(a)
    torch._foreach_div_(a, numbers)
    # Beside tensors that are laid out otherwise one of them has to move.
    torch._foreach_add(a, tensors([(rows, Replicate()) if type(p) is Replicate else (rows, p)
                                   for rows, p in reversed(kinds)][::-1]))
    assert seen and all(n <= len(KINDS) for n in seen), seen
moved = torch._foreach_mul(tensors([(8, Replicate())] * 6), tensors([(2, Shard(0))] * 6))
assert len(moved) == 6
print("asked", len(seen))
"""


def test_equal_elements_get_the_answer_of_each() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("asked")
