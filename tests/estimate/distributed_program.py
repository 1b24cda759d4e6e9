"""What trainers do with torch.distributed, a function each; prints the names of those that ended well."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed import _functional_collectives as functional
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.fsdp import (
    CPUOffload,
    FullyShardedDataParallel,
    ShardingStrategy,
    StateDictType,
    fully_shard,
)
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

RANK, WORLD, LOCAL = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
GPU = torch.device("cuda", LOCAL)
WIDTH = 64


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(*shape, device=GPU)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).relu()
        return x


def sharded(**how: object) -> Net:
    net = Net().to(GPU)
    for layer in net.layers:
        fully_shard(layer, **how)
    return fully_shard(net, **how)


def train(net: nn.Module) -> torch.optim.Optimizer:
    optimizer = torch.optim.AdamW(net.parameters())
    net(ones(2, WIDTH)).sum().backward()
    optimizer.step()
    return optimizer


def collectives() -> None:
    x, gathered = ones(4, 8), ones(4 * WORLD, 8)
    parts = [torch.empty_like(x) for _ in range(WORLD)]
    dist.all_reduce(x)
    dist.broadcast(x, 0)
    dist.reduce(x, 0)
    dist.barrier()
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    assert work.is_completed()
    dist.all_gather(parts, x)
    dist.all_gather_into_tensor(gathered, x)
    dist.reduce_scatter_tensor(x, gathered)
    dist.reduce_scatter(x, parts)
    dist.all_to_all_single(torch.empty_like(gathered), gathered)
    dist.all_to_all([torch.empty_like(x) for _ in range(WORLD)], [x] * WORLD)
    dist.gather(x, parts if RANK == 0 else None, 0)
    dist.scatter(x, parts if RANK == 0 else None, 0)


def coalesced_collectives() -> None:
    x = ones(4, 8)
    with dist._coalescing_manager(device=GPU):
        for _ in range(3):
            dist.all_reduce(x)
    with dist._coalescing_manager(device=GPU, async_ops=True) as works:
        dist.all_gather_into_tensor(ones(4 * WORLD, 8), x)
    works.wait()


def point_to_point() -> None:
    x, after, before = ones(4), (RANK + 1) % WORLD, (RANK - 1) % WORLD
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, after),
                                        dist.P2POp(dist.irecv, ones(4), before)]):
        work.wait()
    dist.send(x, after)
    dist.recv(x, before)


def objects() -> None:
    everybody = [None] * WORLD
    dist.all_gather_object(everybody, {"rank": RANK})
    assert everybody[RANK] == {"rank": RANK}
    sent = [{"seed": 1}]
    dist.broadcast_object_list(sent, 0)
    assert sent == [{"seed": 1}]
    dist.gather_object(7, [None] * WORLD if RANK == 0 else None, 0)
    taken = [None]
    dist.scatter_object_list(taken, list(range(WORLD)), src=RANK)
    assert taken == [RANK]
    dist.send_object_list([1], (RANK + 1) % WORLD)
    dist.recv_object_list([None], (RANK + 1) % WORLD)


def functional_collectives() -> None:
    x, group = ones(4, 8), dist.group.WORLD
    assert (functional.all_reduce(x, "sum", group) + 1).shape == x.shape
    gathered = functional.all_gather_tensor(x, 0, group)
    assert gathered.shape[0] == 4 * WORLD
    assert functional.reduce_scatter_tensor(gathered, "sum", 0, group).shape[0] == 4
    functional.all_gather_tensor_autograd(x.requires_grad_(), 0, group).sum().backward()


def groups() -> None:
    half = list(range(WORLD // 2))
    on_gpu, on_host = dist.new_group(half), dist.new_group(half, backend="gloo")
    if RANK in half:
        dist.all_reduce(ones(3), group=on_gpu)
        dist.all_reduce(torch.ones(3), group=on_host)
        dist.monitored_barrier(on_host)
    pair, _ = dist.new_subgroups(2)
    dist.all_reduce(ones(3), group=pair)


def mesh_of_three_dimensions() -> None:
    mesh = init_device_mesh("cuda", (2, 2, WORLD // 4), mesh_dim_names=("dp", "cp", "tp"))
    assert mesh["dp", "cp"]._flatten("dp_cp").size() == 4
    dist.all_reduce(ones(3), group=mesh["tp"].get_group())
    assert mesh.get_local_rank("dp") == RANK // (WORLD // 2)


def dtensors() -> None:
    mesh = init_device_mesh("cuda", (WORLD,))
    weight = distribute_tensor(torch.randn(64, 32, device=GPU), mesh, [Shard(0)])
    x = distribute_tensor(torch.randn(16, 32, device=GPU), mesh, [Replicate()])
    y = x @ weight.t()
    assert y.to_local().shape == (16, 64 // WORLD)
    assert y.full_tensor().shape == (16, 64)
    (y * 2).softmax(-1).sum().full_tensor().item()
    assert DTensor.from_local(ones(4, 8), mesh, [Shard(0)]).shape == (4 * WORLD, 8)


def sequence_and_loss_parallel() -> None:
    mesh, words = init_device_mesh("cuda", (WORLD,)), 64 * WORLD
    net = nn.Sequential(nn.Embedding(words, 32), nn.LayerNorm(32), nn.Linear(32, words)).to(GPU)
    parallelize_module(net, mesh, {
        "0": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "1": SequenceParallel(),
        "2": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
    })
    ids = torch.randint(words, (2, 8 * WORLD), device=GPU)
    with loss_parallel():
        cross_entropy(net(ids).flatten(0, 1), ids.flatten()).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)


def context_parallelism() -> None:
    mesh = init_device_mesh("cuda", (WORLD,), mesh_dim_names=("cp",))
    layer = nn.Linear(WIDTH, 3 * WIDTH, device=GPU, dtype=torch.bfloat16)
    x = torch.randn(2, 32 * WORLD, WIDTH, device=GPU, dtype=torch.bfloat16)
    with context_parallel(mesh, buffers=[x], buffer_seq_dims=[1]):
        q, k, v = layer(x).unflatten(-1, (3, 4, 16)).permute(2, 0, 3, 1, 4)
        y = scaled_dot_product_attention(q, k, v, is_causal=True)
        y.sum().backward()
    assert y.shape[2] == 32


def sharded_checkpoints() -> None:
    with tempfile.TemporaryDirectory() as folder:
        net = sharded()
        optimizer = train(net)
        states = dict(zip(("model", "optimizer"), get_state_dict(net, optimizer), strict=True))
        dcp.save(states, checkpoint_id=f"{folder}/one")
        dcp.load(states, checkpoint_id=f"{folder}/one")
        set_state_dict(net, optimizer, model_state_dict=states["model"],
                       optim_state_dict=states["optimizer"])
        dcp.async_save(states, checkpoint_id=f"{folder}/two").result()
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        whole = get_model_state_dict(net, options=options)
        if RANK == 0:
            assert whole["layers.0.weight"].shape == (WIDTH, WIDTH)


def fsdp_controls() -> None:
    net = sharded(reshard_after_forward=2)
    net.set_modules_to_forward_prefetch([net.layers[0]])
    net.set_requires_gradient_sync(False)
    net(ones(2, WIDTH)).sum().backward()
    net.set_requires_gradient_sync(True)
    net.unshard(async_op=True).wait()
    net(ones(2, WIDTH)).sum().backward()
    net.reshard()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)


def hybrid_sharding() -> None:
    train(sharded(mesh=init_device_mesh("cuda", (2, WORLD // 2), mesh_dim_names=("copy", "shard"))))


def ddp_and_zero() -> None:
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    net = DistributedDataParallel(Net().to(GPU), device_ids=[LOCAL])
    net.register_comm_hook(None, default_hooks.bf16_compress_hook)
    with net.no_sync():
        net(ones(2, WIDTH)).sum().backward()
    net(ones(2, WIDTH)).sum().backward()
    optimizer = ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3)
    optimizer.step()
    optimizer.consolidate_state_dict(RANK)
    assert len(optimizer.state_dict()["param_groups"][0]["params"]) == 6


def synced_norms() -> None:
    """Statistics over all ranks, in half precision, planes and channels last."""
    net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.LazyLinear(4), nn.BatchNorm1d(4))).cuda()
    for form in (torch.contiguous_format, torch.channels_last):
        x = torch.randn(2, 3, 8, 8, device="cuda").to(memory_format=form)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            net(x).sum().backward()
    norm = net[1]
    assert norm.weight.grad.shape == norm.bias.grad.shape == norm.running_mean.shape == (8,)
    assert net[0].weight.grad.shape == (8, 3, 3, 3)


def fsdp_of_old() -> None:
    for how in ({}, {"use_orig_params": True}, {"cpu_offload": CPUOffload(True)},
                {"sharding_strategy": ShardingStrategy.SHARD_GRAD_OP}):
        net = FullyShardedDataParallel(Net(), device_id=GPU, **how)
        train(net)
        net.clip_grad_norm_(1.0)
    FullyShardedDataParallel.set_state_dict_type(net, StateDictType.FULL_STATE_DICT)
    net.state_dict()


def data_of_a_rank() -> None:
    numbers = TensorDataset(torch.arange(64.0))
    sampler = DistributedSampler(numbers)
    sampler.set_epoch(1)
    assert sum(len(batch) for (batch,) in DataLoader(numbers, 4, sampler=sampler)) == 64 // WORLD


def store_of_the_job() -> None:
    store = dist.distributed_c10d._get_default_store()
    store.set("mine", "1")
    assert store.get("mine") == b"1" and store.add("count", 2) == 2
    try:
        store.get("yours")
    except RuntimeError as error:
        assert "another rank's" in str(error)
    else:
        raise AssertionError("a key that nobody has set")


def settings_of_nccl() -> None:
    options = dist.ProcessGroupNCCL.Options()
    options.config.min_ctas = 4
    dist.all_reduce(ones(3), group=dist.new_group(list(range(WORLD)), pg_options=options))
    dist.distributed_c10d._set_pg_timeout(timedelta(seconds=60), dist.group.WORLD)


TRIED = (collectives, coalesced_collectives, point_to_point, objects, functional_collectives, groups,
         mesh_of_three_dimensions, dtensors, sequence_and_loss_parallel, context_parallelism,
         sharded_checkpoints, fsdp_controls, hybrid_sharding, ddp_and_zero, synced_norms, fsdp_of_old, data_of_a_rank,
         store_of_the_job, settings_of_nccl)


@record
def main() -> None:
    torch.cuda.set_device(LOCAL)
    dist.init_process_group("cpu:gloo,cuda:nccl")
    for one in TRIED:
        try:
            one()
            print("went well:", one.__name__)
        except Exception:
            print("failed:", one.__name__)
            traceback.print_exc(file=sys.stdout)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
