"""Programs on PyTorch's own callers of its trackers, run in a process of their own.

`python caller_programs.py theirs|ours [PROGRAM...]` prints what the callers found as JSON. With
`ours` our modules take the place of PyTorch's before anything imports them.
"""

from __future__ import annotations

import gc
import io
import json
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint

WORLD_SIZE = 4


def use_ours() -> None:
    import tidemark.compat.mem_tracker
    import tidemark.compat.mod_tracker

    for name in ("mem_tracker", "mod_tracker"):
        assert f"torch.distributed._tools.{name}" not in sys.modules
        sys.modules[f"torch.distributed._tools.{name}"] = sys.modules[f"tidemark.compat.{name}"]


def plain(snapshot: Any) -> dict[str, dict[str, int]]:
    return {
        str(device): {str(getattr(key, "value", key)): value for key, value in row.items()}
        for device, row in snapshot.items()
    }


def known_of(tracker: Any) -> dict[str, Any]:
    return {
        "current": plain(tracker.get_tracker_snapshot()),
        "peak": plain(tracker.get_tracker_snapshot("peak")),
        "modules": {
            stats.mod_fqn: {
                "local_peak": {str(device): count for device, count in stats.local_peak.items()},
                "states": [
                    [state.value, [plain(one) for one in calls]]
                    for state, calls in stats.snapshots.items()
                ],
            }
            for stats in tracker.memory_tracking.values()
        },
    }


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide = nn.Linear(width, 3 * width)
        self.narrow = nn.Linear(3 * width, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.scale * self.norm(self.narrow(torch.relu(self.wide(x))))


class Net(nn.Module):
    """No width is a multiple of the world's size, so shards need padding."""

    def __init__(self, width: int = 18, depth: int = 3, checkpointed: bool = False) -> None:
        super().__init__()
        self.checkpointed = checkpointed
        self.embed = nn.Linear(7, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(x)


def start_mesh() -> Any:
    """Four ranks on the CPU, of which this is the first and the others do not exist."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group(
        "fake", store=FakeStore(), rank=0, world_size=WORLD_SIZE
    )
    return init_device_mesh("cpu", (WORLD_SIZE,))


def sharded_net(mesh: Any, *, reshard: bool = True, checkpointed: bool = False) -> nn.Module:
    from torch.distributed.fsdp import fully_shard

    model = Net(checkpointed=checkpointed)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, reshard_after_forward=reshard)
    return fully_shard(model, mesh=mesh, reshard_after_forward=reshard)


def expect_base(found: type, module: str) -> None:
    """The caller stands on the tracker that this process is about."""
    whose = "tidemark.compat" if sys.argv[1] == "ours" else "torch.distributed._tools"
    assert f"{whose}.{module}" in {base.__module__ for base in found.__mro__}, found.__mro__


def fsdp(**how: Any) -> Any:
    model = sharded_net(start_mesh(), **how)
    return fsdp_steps(model, torch.optim.Adam(model.parameters(), foreach=True))


def fsdp_on_fake_tensors() -> Any:
    mesh = start_mesh()
    with FakeTensorMode():
        model = sharded_net(mesh)
        return fsdp_steps(model, torch.optim.SGD(model.parameters(), momentum=0.9))


def fsdp_steps(model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
    """Two steps; what the tracker knows in and after each."""
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker

    expect_base(FSDPMemTracker, "mem_tracker")
    x = torch.randn(6, 7)
    tracker = FSDPMemTracker(model, optimizer)
    tracker.track_inputs((x,))
    found = []
    with tracker:
        for _ in range(2):
            loss = model(x).sum()
            found.append(known_of(tracker))
            loss.backward()
            del loss
            found.append(known_of(tracker))
            optimizer.step()
            optimizer.zero_grad()
            found.append(known_of(tracker))
            tracker.reset_mod_stats()
    found.append(known_of(tracker))
    return found


def fsdp_display() -> str:
    """What FSDPMemTracker prints; a root that is called twice without a reset is refused."""
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker

    model, x = sharded_net(start_mesh()), torch.randn(6, 7)
    printed = io.StringIO()
    with redirect_stdout(printed), FSDPMemTracker(model) as tracker:
        model(x).sum().backward()
        tracker.display_snapshot("peak", units="KiB")
        tracker.display_modulewise_snapshots(depth=3, units="B")
        try:
            model(x)
        except NotImplementedError as error:
            print(error)
    return printed.getvalue()


def one_millisecond_each() -> None:
    """The cost models want a GPU; each operator costs the same here, so that runtimes count them.

    SACEstimator knows a storage by its address, also after its death: results live on, so that no
    storage is taken for an older one and what it finds does not hang on the process's heap.
    """
    from torch.distributed._tools.runtime_estimator import RuntimeEstimator

    results = []

    def estimate(cls: Any, func: Any, args: Any, kwargs: Any) -> Any:
        results.append(func(*args, **(kwargs or {})))
        return results[-1], 1.0

    RuntimeEstimator._roofline_estimate = classmethod(estimate)


def fake_net() -> tuple[nn.Module, torch.Tensor]:
    return Net(checkpointed=True), torch.randn(6, 7)


def estimate_runtime(model: nn.Module, x: torch.Tensor) -> Any:
    from torch.distributed._tools.runtime_estimator import RuntimeEstimator

    estimator = RuntimeEstimator()
    with redirect_stdout(sys.stderr), estimator("operator-level-cost-model"):
        model(x).sum().backward()
    expect_base(type(estimator._mod_tracker), "mod_tracker")
    return estimator


def runtime() -> Any:
    one_millisecond_each()
    with FakeTensorMode():
        estimator = estimate_runtime(*fake_net())
    orders = ("fw_pre", "bw_pre", "fw_post", "bw_post")
    return {
        "total": estimator.total_runtime,
        "modules": sorted((name, dict(times)) for name, times in estimator.mod_runtimes.items()),
        **{order: getattr(estimator, f"mod_{order}_order") for order in orders},
    }


def estimate_checkpoints(model: nn.Module, x: torch.Tensor) -> Any:
    from torch.distributed._tools.sac_estimator import SACEstimator

    estimator = SACEstimator()
    with redirect_stdout(sys.stderr), estimator("operator-level-cost-model"):
        model(x)
    expect_base(type(estimator._mod_tracker), "mod_tracker")
    return estimator


def checkpoints() -> Any:
    one_millisecond_each()
    with FakeTensorMode():
        estimator = estimate_checkpoints(*fake_net())
    return {
        "stats": {name: asdict(stats) for name, stats in estimator.sac_mod_stats.items()},
        "orders": {
            name: {key: sorted(map(str, value)) if isinstance(value, set) else str(value)
                   for key, value in asdict(meta).items()}
            for name, meta in estimator.sac_mod_greedy_order_meta.items()
        },
    }


def integer_programs() -> Any:
    """What the solvers of ilp_utils are fed with."""
    from torch.distributed._tools.ilp_utils import (
        MemTracker,
        aggregate_stats,
        get_peak_memory_runtime_baseline,
        parse_module_info,
    )

    one_millisecond_each()
    with FakeTensorMode():
        model, x = Net(), torch.randn(6, 7)
        tracker = MemTracker()
        tracker.track_external(model, x)
        with tracker:
            model(x).sum().backward()
        expect_base(type(tracker), "mem_tracker")
        # PyTorch's tracker keeps the graph in cycles (D26); nodes that live on cost no new operators.
        while gc.collect():
            pass
        runtimes, sac = estimate_runtime(model, x), estimate_checkpoints(model, x)
        sac.pwlf_sac_tradeoff_curve = lambda: None  # fits curves with a package of its own
        info = aggregate_stats(model, tracker, runtimes, sac, torch.device("cpu"))
        graph = parse_module_info(info)
        return [info, graph.ad_matrix.tolist(), get_peak_memory_runtime_baseline(graph)]


def communication() -> Any:
    """CommDebugMode, whose module tracker overrides ModTracker's insides."""
    from torch.distributed.tensor.debug import CommDebugMode
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    mesh, model = start_mesh(), Net(width=16)
    plan = {"wide": ColwiseParallel(), "narrow": RowwiseParallel()}
    for block in model.blocks:
        parallelize_module(block, mesh, plan)
    mode = CommDebugMode()
    expect_base(type(mode.advanced_module_tracker), "mod_tracker")
    with mode:
        model(torch.randn(6, 7)).sum().backward()
    return [
        {str(operator): count for operator, count in mode.get_comm_counts().items()},
        mode.generate_comm_debug_tracing_table(noise_level=3),
        {name: str(placements) for name, placements in mode.get_sharding_info().items()},
    ]


def debugging() -> str:
    """DebugMode, which asks ModTracker for names."""
    from torch.utils._debug_mode import DebugMode

    model, x = Net(checkpointed=True), torch.randn(6, 7)
    with DebugMode(record_nn_module=True, record_torchfunction=False) as mode:
        model(x).sum().backward()
    expect_base(type(mode.module_tracker), "mod_tracker")
    return mode.debug_string()


PROGRAMS: dict[str, Callable[[], Any]] = {
    "fsdp": fsdp,
    "fsdp_without_resharding": lambda: fsdp(reshard=False),
    "fsdp_with_checkpoints": lambda: fsdp(checkpointed=True),
    "fsdp_on_fake_tensors": fsdp_on_fake_tensors,
    "fsdp_display": fsdp_display,
    "runtime": runtime,
    "checkpoints": checkpoints,
    "integer_programs": integer_programs,
    "communication": communication,
    "debugging": debugging,
}


def found_by(program: str) -> Any:
    torch.manual_seed(0)
    try:
        return PROGRAMS[program]()
    except Exception:
        return {"raised": traceback.format_exc()}
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def main(whose: str, programs: list[str]) -> None:
    if whose == "ours":
        use_ours()
    torch.set_num_threads(1)
    print(json.dumps({program: found_by(program) for program in programs or PROGRAMS}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
