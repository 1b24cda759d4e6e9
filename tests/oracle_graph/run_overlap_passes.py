"""run_overlap_passes.py ours|theirs: PyTorch's overlap scheduler and bucketing on one estimator.

Prints the order of the nodes and the counters as JSON. The estimator must be chosen before the
passes are imported, so this is a program of its own.
"""

import json
import sys
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.fx as fx
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.distributed.fake_pg import FakeStore

RANKS = 2


def gather(shard: torch.Tensor, group: str) -> torch.Tensor:
    started = torch.ops._c10d_functional.all_gather_into_tensor(shard, RANKS, group)
    return torch.ops._c10d_functional.wait_tensor(started)


def reduce(gradient: torch.Tensor, group: str) -> torch.Tensor:
    started = torch.ops._c10d_functional.reduce_scatter_tensor(gradient, "sum", RANKS, group)
    return torch.ops._c10d_functional.wait_tensor(started)


def layers_of(group: str) -> Callable:
    """Layers whose weights are gathered before use and whose gradients are scattered after."""

    def step(x: torch.Tensor, *shards: torch.Tensor) -> list[torch.Tensor]:
        gradients = []
        for shard in shards:
            weight = gather(shard, group)
            x = torch.relu(x @ weight)
            gradients.append(reduce(x.t() @ x, group))
        return [x, *gradients]

    return step


def trace(size: int = 64, layers: int = 5) -> fx.GraphModule:
    group = dist.group.WORLD.group_name
    with FakeTensorMode():
        x = torch.ones(size, size, device="meta")
        shards = [torch.ones(size // RANKS, size, device="meta") for _ in range(layers)]
        return make_fx(layers_of(group))(x, *shards)


def milliseconds(node: fx.Node, size: int | None) -> float:
    """A run time for each node, without a GPU to measure on."""
    name = str(node.target)
    return 1.0 if "mm" in name else 0.8 if "_c10d" in name else 0.0


def main(which: str) -> None:
    if which == "ours":
        from tidemark.compat import memory_estimator

        sys.modules["torch._inductor.fx_passes.memory_estimator"] = memory_estimator
    import torch._inductor.utils
    from torch._dynamo.utils import counters

    torch._inductor.utils.get_gpu_dram_gbps = lambda: 2000  # there is no GPU to ask
    from torch._inductor.fx_passes import overlap_scheduling

    assert ("tidemark" in overlap_scheduling.MemoryTracker.__module__) == (which == "ours")
    dist.init_process_group(backend="fake", rank=0, world_size=RANKS, store=FakeStore())
    results = []
    for limit_gb, buckets, buckets_before in ((1, True, True), (1, True, False), (1, False, False), (0, False, False)):
        counters.clear()
        done = overlap_scheduling.schedule_overlap_bucketing(
            trace(),
            collective_bucketing=buckets,
            pre_bucketing_fsdp_collectives=buckets_before,
            custom_runtime_estimation=milliseconds,
            max_memory_increase_gb=limit_gb,
            max_memory_increase_ratio=0.0,
        )
        memory = {key: value for key, value in counters["inductor"].items() if "overlap" in key or "mem" in key}
        results.append({"nodes": [node.name for node in done.graph.nodes], "counters": memory})
    print("RESULT " + json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
