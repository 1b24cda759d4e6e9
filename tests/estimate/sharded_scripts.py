"""Scripts on models that FSDP shards over four ranks, of which this is the first."""

from __future__ import annotations

HEAD = """
import torch.distributed as dist
from torch.distributed._composable import checkpoint as checkpointed
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
mesh = init_device_mesh(device, (4,))
class Block(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.wide, self.narrow = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
    def forward(self, x):
        return self.narrow(torch.tanh(self.wide(x)))
class Net(nn.Module):
    def __init__(self, blocks=3, width=64):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = nn.Linear(width, 8)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
def replicate(model):
    import time
    replica = torch.nn.parallel.DistributedDataParallel(model)
    time.sleep(0.3)  # a thread of gloo lets go of what it has sent a moment after it has said so
    return replica
def shard(model, units=None, **how):
    how.setdefault("mesh", mesh)
    for unit in model.blocks if units is None else units:
        fully_shard(unit, **how)
    return fully_shard(model, **how)
def train(model, steps=2, width=64, optimizer=None):
    optimizer = optimizer or torch.optim.Adam(p for p in model.parameters() if p.requires_grad)
    x = torch.randn(32, width, device=device)
    for _ in range(steps):
        model(x).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
"""
SCRIPTS = {
    "sharded": "train(shard(Net().to(device)))",
    "sharded, kept after the forward": "train(shard(Net().to(device), reshard_after_forward=False))",
    "sharded, then over two ranks": "train(shard(Net().to(device), reshard_after_forward=2))",
    "sharded unevenly": "train(shard(Net(width=18).to(device)), width=18)",
    "sharded as a list": """
model = Net().to(device)
fully_shard([model.blocks[2], model.head], mesh=mesh)
train(shard(model, units=model.blocks[:2]))
""",
    "sharded, checkpoints around": """
model = Net().to(device)
model.blocks = nn.ModuleList(checkpoint_wrapper(block) for block in model.blocks)
train(shard(model))
""",
    "sharded, checkpoints inside": """
model = Net().to(device)
for block in model.blocks:
    checkpointed(block)
train(shard(model))
""",
    "sharded, a part runs": """
model = shard(Net().to(device))
x = torch.randn(32, 64, device=device)
for _ in range(2):
    model.blocks[0](x).sum().backward()
""",
    "sharded and frozen": """
model = Net().to(device)
model.blocks[0].requires_grad_(False)
model.blocks[1].narrow.requires_grad_(False)
train(shard(model))
""",
    "sharded and tied": """
class Tied(Net):
    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(64, 64), nn.Linear(64, 64)
        self.head.weight = self.first.weight
    def forward(self, x):
        return super().forward(self.first(x))
train(shard(Tied().to(device)))
""",
    "sharded in two groups": """
try:
    from torch.distributed.fsdp._fully_shard._fsdp_common import FSDPMeshInfo, ShardPlacementResult
except ImportError:  # PyTorch 2.11 has one group a module
    place = None
else:
    pairs = init_device_mesh(device, (2, 2), mesh_dim_names=("outer", "inner"))["inner"]
    few = ShardPlacementResult(None, FSDPMeshInfo(pairs, shard_mesh_dim=0))
    place = lambda parameter: few if parameter.ndim == 1 else None
train(shard(Net().to(device), shard_placement_fn=place))
""",
    "sharded, made on meta": """
with torch.device("meta"):
    model = Net(width=18)
shard(model).to_empty(device=device)
for parameter in model.parameters():
    parameter.to_local().data.normal_()
train(model, width=18)
""",
    "sharded, forwards prefetched": """
model = shard(Net().to(device))
model.blocks[0].set_modules_to_forward_prefetch([model.blocks[1], model.blocks[2]])
train(model)
""",
    "sharded, not exchanged at once": """
model = shard(Net().to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 64, device=device)
for _ in range(2):
    for batch in range(3):
        model.set_requires_gradient_sync(batch == 2)
        model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "sharded in mixed precision": """
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
model = shard(Net().to(device), mp_policy=policy)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 64, device=device)
for batch in range(4):
    model.set_requires_gradient_sync(batch % 2 == 1)
    model(x).float().sum().backward()
optimizer.step()
""",
    "sharded in replicas": """
mesh = init_device_mesh(device, (2, 2), mesh_dim_names=("replicate", "shard"))
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
train(shard(Net().to(device), mesh=mesh, mp_policy=policy))
""",
    "sharded, unsharded by hand": """
model = shard(Net().to(device))
model.blocks[1].unshard()
train(model)
model.reshard()
""",
    "replicated": """
dist.destroy_process_group()
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model = replicate(Net().to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(32, 64, device=device)
for _ in range(2):
    with model.no_sync():
        model(x).sum().backward()
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "optimizer in shards": """
dist.destroy_process_group()
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
from torch.distributed.optim import ZeroRedundancyOptimizer
model = replicate(Net().to(device))
train(model, optimizer=ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1))
""",
}
