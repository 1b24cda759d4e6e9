"""What PyTorch's allocator holds around CUDA graphs and memory pools, asked of a GPU, real or virtual.

    python tests/phantom/graph_questions.py --out graph_answers.json    # on a GPU; torch is all it needs
    python tests/phantom/graph_questions.py --virtual                   # the same on virtual GPUs
    python tests/phantom/graph_questions.py --compare graph_answers.json    # and where the two differ

Each program runs in a process of its own, from an allocator that holds nothing, and tells what is held
after each of its stages.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "graph_answers.json"
MIB = 1 << 20

Stages = list[dict[str, Any]]
Tell = Callable[[str], None]


def held(stage: str) -> dict[str, Any]:
    """What the allocator has now; `private` are the bytes of each private pool, in the order of their ids."""
    import torch

    torch.cuda.synchronize()
    segments = torch.cuda.memory_snapshot()
    private: dict[tuple[int, ...], int] = {}
    for segment in segments:
        pool = tuple(segment["segment_pool_id"])
        if any(pool):
            private[pool] = private.get(pool, 0) + segment["total_size"]
    return {
        "stage": stage,
        "allocated": torch.cuda.memory_allocated(),
        "max_allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.memory_reserved(),
        "max_reserved": torch.cuda.max_memory_reserved(),
        "segments": len(segments),
        "private": [private[pool] for pool in sorted(private)],
    }


def perceptron(width: int = 1024, layers: int = 3) -> Any:
    from torch import nn

    rows: list[Any] = []
    for _ in range(layers):
        rows += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*rows, nn.Linear(width, 16)).cuda()


def warm_up(call: Callable[[], Any]) -> None:
    """As PyTorch's notes on graphs have it: on a stream of its own."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)


def one_capture(tell: Tell) -> None:
    import torch

    model, x = perceptron(), torch.zeros(2048, 1024, device="cuda")
    tell("made")
    with torch.no_grad():
        warm_up(lambda: model(x))
        tell("warm")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = model(x)
        tell("captured")
        for _ in range(2):
            graph.replay()
        tell("replayed")
        z = model(x)
        tell("run without it")
        del z
        torch.cuda.empty_cache()
        tell("emptied")
        assert y.shape == (2048, 16)


def captures(tell: Tell, share: bool) -> None:
    """Two models; the second needs more than the first."""
    import torch

    small, large = perceptron(1024), perceptron(1024, 5)
    x, w = torch.zeros(2048, 1024, device="cuda"), torch.zeros(6144, 1024, device="cuda")
    tell("made")
    with torch.no_grad():
        warm_up(lambda: (small(x), large(w)))
        tell("warm")
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(first):
            y = small(x)
        tell("first captured")
        with torch.cuda.graph(second, **({"pool": first.pool()} if share else {})):
            z = large(w)
        tell("second captured")
        first.replay()
        second.replay()
        kept = torch.zeros(64 * MIB, dtype=torch.uint8, device="cuda")
        tell("more is born")
        del first, y
        torch.cuda.empty_cache()
        tell("first is gone")
        del second, z
        torch.cuda.empty_cache()
        tell("second is gone")
        assert kept.is_cuda


def shared_pool(tell: Tell) -> None:
    captures(tell, share=True)


def own_pools(tell: Tell) -> None:
    captures(tell, share=False)


def handle_again(tell: Tell) -> None:
    """One handle for a graph after the other; at last for one that comes when the others are gone, which
    PyTorch refuses: cuBLAS has a workspace in their pool."""
    import torch

    handle = torch.cuda.graph_pool_handle()
    model, x = perceptron(), torch.zeros(4096, 1024, device="cuda")
    graphs: list[Any] = []
    with torch.no_grad():
        warm_up(lambda: model(x))
        tell("warm")
        for rows in (4096, 2048, 1024):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=handle):
                y = model(x[:rows])
            graphs.append((graph, y))
            tell(f"captured {rows}")
        del graph, y
        graphs.clear()
        tell("all are gone")
        again = torch.cuda.CUDAGraph()
        with torch.cuda.graph(again, pool=handle):
            z = model(x)
        tell("captured again")
        assert z.is_cuda


def reset(tell: Tell) -> None:
    import torch

    x = torch.zeros(32 * MIB, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x + 1) * 2
    tell("captured")
    big = torch.zeros(96 * MIB, dtype=torch.uint8, device="cuda")
    tell("more is born")
    del y
    tell("the result is dead")
    torch.cuda.empty_cache()
    tell("emptied")
    graph.reset()
    tell("reset")
    bigger = torch.zeros(200 * MIB, dtype=torch.uint8, device="cuda")
    tell("still more is born")
    torch.cuda.empty_cache()
    tell("emptied again")
    last = torch.zeros(160 * MIB, dtype=torch.uint8, device="cuda")
    tell("the last is born")
    assert big.is_cuda and bigger.is_cuda and last.is_cuda


def result_outlives(tell: Tell) -> None:
    """The graph is gone, its result is not: the segment stays, in a pool that nobody uses."""
    import torch

    x = torch.zeros(8 * MIB, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x + 1
        z = (y * 2).relu()
    tell("captured")
    del graph, y
    torch.cuda.empty_cache()
    tell("the graph is gone")
    more = torch.zeros(8 * MIB, device="cuda")
    tell("more is born")
    del z
    torch.cuda.empty_cache()
    tell("the result is gone")
    assert more.is_cuda


def graphed_callables(tell: Tell) -> None:
    import torch
    from torch import nn

    model, head = perceptron(), nn.Linear(16, 1).cuda()
    x = torch.zeros(2048, 1024, device="cuda")
    tell("made")
    graphed = torch.cuda.make_graphed_callables(model, (x,))
    tell("graphed")
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()])
    for step in range(3):
        optimizer.zero_grad()
        loss = head(graphed(torch.zeros(2048, 1024, device="cuda"))).sum()
        loss.backward()
        optimizer.step()
        tell(f"step {step}")


def two_graphed_callables(tell: Tell) -> None:
    import torch

    first, second = perceptron(1024, 2), perceptron(16, 2)
    x, y = torch.zeros(4096, 1024, device="cuda"), torch.zeros(4096, 16, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables((first, second), ((x,), (y,)))
    tell("graphed")
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        graphed[1](graphed[0](x)).sum().backward()
        optimizer.step()
        tell(f"step {step}")


def training_captured(tell: Tell) -> None:
    """A whole step in a graph: forward, backward, optimizer."""
    import torch

    model = perceptron()
    x, target = torch.zeros(2048, 1024, device="cuda"), torch.zeros(2048, 16, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    warm_up(step)
    tell("warm")
    optimizer.zero_grad(set_to_none=True)
    tell("without gradients")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    tell("captured")
    for _ in range(2):
        graph.replay()
    tell("replayed")
    assert loss.shape == ()


def capture_then_train(tell: Tell) -> None:
    """A captured model beside one that is trained as ever."""
    import torch

    teacher, student = perceptron(1024, 4), perceptron()
    x = torch.zeros(4096, 1024, device="cuda")
    with torch.no_grad():
        warm_up(lambda: teacher(x))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            wanted = teacher(x)
    tell("captured")
    optimizer = torch.optim.AdamW(student.parameters())
    for step in range(3):
        graph.replay()
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(student(x), wanted).backward()
        optimizer.step()
        tell(f"step {step}")
    del graph, wanted
    gc.collect()
    torch.cuda.empty_cache()
    tell("the graph is gone")


def random_captured(tell: Tell) -> None:
    """Dropout in a graph: the generator keeps its state on the GPU."""
    import torch
    from torch import nn

    dropout, x = nn.Dropout(0.5), torch.zeros(4 * MIB, device="cuda")
    warm_up(lambda: dropout(x))
    tell("warm")
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        y = dropout(x)
    tell("first captured")
    with torch.cuda.graph(second):
        z = dropout(x)
    tell("second captured")
    first.replay()
    second.replay()
    del first, y
    torch.cuda.empty_cache()
    tell("first is gone")
    del second, z
    torch.cuda.empty_cache()
    tell("second is gone")


def memory_pool(tell: Tell) -> None:
    """torch.cuda.MemPool: what this thread makes, and not what autograd's thread makes."""
    import torch

    pool = torch.cuda.MemPool()
    model, x = perceptron(), torch.zeros(2048, 1024, device="cuda")
    model(x).sum().backward()
    model.zero_grad(set_to_none=True)
    tell("warm")
    with torch.cuda.use_mem_pool(pool):
        loss = model(x).sum()
        tell("forward in the pool")
        loss.backward()
        tell("backward in the pool")
        torch.cuda.empty_cache()
        tell("emptied in the pool")
    more = torch.zeros(48 * MIB, dtype=torch.uint8, device="cuda")
    tell("more is born")
    del loss
    torch.cuda.empty_cache()
    tell("emptied")
    del pool
    tell("the pool is gone")
    assert more.is_cuda


PROGRAMS = (one_capture, shared_pool, own_pools, handle_again, reset, result_outlives, graphed_callables,
            two_graphed_callables, training_captured, capture_then_train, random_captured, memory_pool)


def run(name: str) -> Stages:
    stages: Stages = []
    {program.__name__: program for program in PROGRAMS}[name](lambda stage: stages.append(held(stage)))
    return stages


def run_virtually(name: str) -> Stages:
    from tidemark.gpus import CATALOGUE
    from tidemark.virtual_cuda import load, open_gpus

    load()
    open_gpus(CATALOGUE["h200"], 1)
    return run(name)


def ask(name: str, virtual: bool) -> Stages:
    """In a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--program", name]
    done = subprocess.run([*command, "--virtual"] if virtual else command, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    if done.returncode != 0:
        return [{"stage": "failed", "error": done.stderr.strip().splitlines()[-1]}]
    stages: Stages = json.loads(done.stdout.splitlines()[-1])
    return stages


def machine() -> dict[str, str]:
    import torch

    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout.split()[0]
    return {"gpu": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__}


def as_text(facts: dict[str, Any], programs: dict[str, Stages]) -> str:
    rows = ",\n".join(f'  "{name}": [\n   ' + ",\n   ".join(map(json.dumps, stages)) + "\n  ]"
                      for name, stages in programs.items())
    return json.dumps(facts, indent=1).removesuffix("\n}") + f',\n "programs": {{\n{rows}\n }}\n}}\n'


def compare(real: dict[str, Stages]) -> int:
    """Asks a virtual GPU the same and prints what it answers otherwise; returns how many numbers differ."""
    differ = asked = 0
    for name, stages in real.items():
        for one, other in zip(stages, ask(name, virtual=True), strict=False):
            for key in one.keys() - {"stage"}:
                asked += 1
                if one[key] != other.get(key):
                    differ += 1
                    print(f"{name}, {one['stage']}: {key} is {one[key]}, virtually {other.get(key)}")
    print(f"{differ} of {asked} numbers differ")
    return differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, help="the file to write; standard output without it")
    parser.add_argument("--virtual", action="store_true", help="ask a virtual H200")
    parser.add_argument("--program", choices=[program.__name__ for program in PROGRAMS],
                        help="this one alone, in this process; its stages are the last line")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="with what a GPU answered")
    asked = parser.parse_args()
    if asked.compare:
        return min(compare(json.loads(asked.compare.read_text())["programs"]), 1)
    if asked.program:
        print(json.dumps(run_virtually(asked.program) if asked.virtual else run(asked.program)))
        return 0
    programs = {program.__name__: ask(program.__name__, asked.virtual) for program in PROGRAMS}
    text = as_text({"gpu": "virtual H200"} if asked.virtual else machine(), programs)
    if asked.out:
        asked.out.write_text(text)
    else:
        print(text, end="")
    failed = [name for name, stages in programs.items() if "error" in stages[-1]]
    for name in failed:
        print(f"{name}: {programs[name][-1]['error']}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
