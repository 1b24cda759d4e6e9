"""The same script under `estimate` and under `record`: one meaning.

At every border of a module call, in every phase and step: the same modules, and the same bytes of
every category. Where hardware makes them differ, the table below says so.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from forked_commands import run_command

import tidemark

HEAD = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
"""
TRAIN = """
for _ in range(3):
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
TWO_LAYERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 8)
    def forward(self, x):
        return self.b(self.a(x).relu())
"""
ONE_RANK = """
import torch.distributed as dist
dist.init_process_group("nccl" if device == "cuda" else "gloo", store=dist.HashStore(), rank=0, world_size=1)
"""
SCRIPTS = {
    "chain": """
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "nested": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.ff = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
    def forward(self, x):
        return x + self.ff(self.norm(x))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(64, 8)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "two roots of one class": """
first, model = nn.Linear(64, 64).to(device), nn.Linear(64, 64).to(device)
optimizer = torch.optim.SGD([*first.parameters(), *model.parameters()], lr=0.1, momentum=0.9)
x = torch.randn(32, 64, device=device)
for _ in range(2):
    model(first(x)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "recomputed": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x):
        return self.b(checkpoint(self.a, x, use_reentrant=False).relu())
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "frozen": """
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).to(device)
model[0].requires_grad_(False)
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "buffers": """
model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU()).to(device)
optimizer = torch.optim.RMSprop(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "accumulated": """
model = nn.Linear(64, 64).to(device)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    for _ in range(3):
        model(torch.randn(8, 64, device=device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "tied": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(64, 64), nn.Linear(64, 64)
        self.outer.weight = self.inner.weight
    def forward(self, x):
        return self.outer(self.inner(x))
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "evaluated": """
model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 8)).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN + """
model.eval()
with torch.no_grad():
    model(x)
""",
    "dropped": """
model = nn.Sequential(nn.Linear(64, 48), nn.Dropout(), nn.Linear(48, 8)).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "recorded backward": """
model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device, requires_grad=True)
for _ in range(2):
    (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    slope.pow(2).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    x.grad = None
""",
    "resized": """
model = nn.Linear(64, 64).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
for _ in range(2):
    x.untyped_storage().resize_(0)
    x.untyped_storage().resize_(32 * 64 * 4)
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "sparse": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(100, 64, sparse=True), nn.Linear(64, 8)
    def forward(self, ids):
        return self.head(self.embed(ids))
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.arange(24, device=device)
""" + TRAIN,
    "wrapped": """
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = checkpoint_wrapper(nn.Linear(64, 64)), nn.Linear(64, 64)
    def forward(self, x):
        return self.b(self.a(x).relu())
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "replicated": ONE_RANK + TWO_LAYERS + """
model = nn.parallel.DistributedDataParallel(Net().to(device))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "compiled": TWO_LAYERS + """
model = torch.compile(Net().to(device), backend="eager")
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "replicated and compiled": ONE_RANK + TWO_LAYERS + """
model = torch.compile(nn.parallel.DistributedDataParallel(Net().to(device)), backend="eager")
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
""" + TRAIN,
    "owned": """
class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(64, 64), nn.Tanh()).to(device)
        self.critic = nn.Sequential(nn.Linear(64, 1)).to(device)
    def loss(self, x):
        return self.critic(self.actor(x)).pow(2).mean()
agent = Agent()
optimizer = torch.optim.Adam([*agent.actor.parameters(), *agent.critic.parameters()])
for _ in range(2):
    agent.loss(torch.randn(32, 64, device=device)).backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "saved": """
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).to(device)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 64, device=device)
for _ in range(2):
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    weights = model.state_dict()
""",
    "inference": """
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).to(device)
with torch.no_grad():
    for _ in range(2):
        model(torch.randn(32, 64, device=device))
""",
}
# What a CPU and a GPU keep differently: storages of these sizes are left out.
OF_THE_CPU = {
    "recomputed": {5056},  # the random state that a checkpoint saves
    "wrapped": {5056},
    "dropped": {32 * 48, 32 * 48 * 4},  # what dropout has dropped, as booleans or as numbers
}
# A backward through a recorded backward: an estimate follows autograd's nodes, a recording the
# gradients of what modules return, which may be long there: only forwards are compared.
FORWARDS_ONLY = {"recorded backward"}
# An estimate runs uncompiled what a recording follows from outside: only the outermost module is compared.
OUTERMOST_ONLY = {"compiled", "replicated and compiled"}
# Optimizers keep their counters of steps on the CPU, where an estimate does not look.
COUNTER_BYTES = 4

Border = tuple[str, str, str, int]  # begin or end, module, phase, and which time
Row = dict[str, int]


def tape_of(verb: str, script: Path, *options: str) -> tidemark.Tape:
    path = script.with_name(f"{verb}.tape")
    flags = [*options, *(["--steps", "0"] if verb == "estimate" else [])]
    done = run_command(verb, *flags, "--save", path, script, CUDA_VISIBLE_DEVICES="")
    assert done.returncode in (0, 2), done.stderr
    return tidemark.open(path)


def rows_at_borders(tape: tidemark.Tape, ignored: set[int]) -> dict[Border, Row]:
    """Bytes by category, as requested, at each begin and end of a module's call: the n-th such one
    of the module in that phase."""
    alive: dict[int, tuple[str, int]] = {}
    times: Counter[tuple[str, str, str]] = Counter()
    rows = {}
    for event in (tape.events[i] for i in range(len(tape))):
        kind = event.kind.name
        if kind == "Alloc":
            alive[event.storage] = (event.category.name, event.bytes)
        elif kind == "Resize":
            alive[event.storage] = (alive[event.storage][0], event.bytes)
        elif kind == "Relabel":
            alive[event.storage] = (event.category.name, alive[event.storage][1])
        elif kind == "Free":
            alive.pop(event.storage)
        elif kind in ("ScopeBegin", "ScopeEnd"):
            border = (kind, event.scope, event.phase.name)
            times[border] += 1
            rows[*border, times[border]] = summed(alive, ignored)
    return rows


def forwards(rows: dict[Border, Row]) -> dict[Border, Row]:
    return {border: row for border, row in rows.items() if border[2] == "Forward"}


def outermost(rows: dict[Border, Row]) -> dict[Border, Row]:
    return {border: row for border, row in rows.items() if "." not in border[1]}


def summed(alive: dict[int, tuple[str, int]], ignored: set[int]) -> Row:
    sums: Counter[str] = Counter()
    for category, size in alive.values():
        if size > COUNTER_BYTES and size not in ignored:
            sums[category] += size
    return dict(sums)


def steps_of(tape: tidemark.Tape) -> list[tuple[str, str]]:
    """Where steps begin: the border that comes next, and its module."""
    events = [tape.events[i] for i in range(len(tape))]
    found = []
    for i, event in enumerate(events):
        if event.kind.name == "Step":
            border = next(one for one in events[i:] if one.kind.name.startswith("Scope"))
            found.append((border.kind.name, border.scope))
    return found


# All that the tapes name. What wraps a module takes no level; what owns modules has one, though it is none.
NAMES = {
    "chain": {"model", "model.0", "model.1", "model.2"},
    "two roots of one class": {"first", "model"},
    "wrapped": {"Net", "Net.a", "Net.b"},
    "replicated": {"Net", "Net.a", "Net.b"},
    "compiled": {"Net", "Net.a", "Net.b"},
    "replicated and compiled": {"Net", "Net.a", "Net.b"},
    "owned": {"Agent", "Agent.actor", "Agent.actor.0", "Agent.actor.1", "Agent.critic", "Agent.critic.0"},
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_means_the_same_both_ways(name: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(HEAD + SCRIPTS[name])
    estimated, recorded = tape_of("estimate", script), tape_of("record", script)
    ignored = OF_THE_CPU.get(name, set())
    assert steps_of(estimated) == steps_of(recorded)
    found, told = rows_at_borders(estimated, ignored), rows_at_borders(recorded, ignored)
    assert found
    if name in FORWARDS_ONLY:
        found, told = forwards(found), forwards(told)
    if name in OUTERMOST_ONLY:
        found, told = outermost(found), outermost(told)
    assert found == told
    if name in NAMES:
        assert set(estimated.tables.scopes) == set(recorded.tables.scopes) == NAMES[name]
