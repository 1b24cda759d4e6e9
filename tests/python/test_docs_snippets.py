"""The Python in the README and docs runs as it stands there, once what a reader would have is there.

Each snippet is a program of its own: a fork of a process that has imported torch, and nothing of Tidemark.
"""

import multiprocessing
import os
import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["torch", "torch._dynamo"])

TRAINING = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
optimizer = torch.optim.Adam(model.parameters())
batches = [torch.randn(2, 8) for _ in range(3)]
def train_step(model, optimizer, batch):
    model(batch).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

# What the reader has before the page's first line, by page.
GIVEN = {
    "README.md": TRAINING + """
import tidemark
def train():
    torch.nn.Linear(8, 8).cuda()(torch.randn(2, 8, device="cuda"))
def train_one_step(model, optimizer):
    train_step(model, optimizer, batches[0])
if __name__ != "__main__":
    raise SystemExit
""",
    "docs/record.md": TRAINING,
    "docs/compat/mem_tracker.md": TRAINING + "batch = batches[0]\n",
    "docs/compat/fsdp2_mem_tracker.md": """
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore
torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
model = fully_shard(torch.nn.Linear(8, 8), mesh=init_device_mesh("cpu", (4,)))
optimizer = torch.optim.Adam(model.parameters())
batch = torch.randn(2, 8)
""",
    "docs/estimate.md": """
config = 16
def train(width):
    import torch
    torch.nn.Linear(width, width).cuda()(torch.randn(2, width, device="cuda"))
if __name__ != "__main__":
    raise SystemExit
""",
    "docs/graphs.md": TRAINING + """
module = torch.export.export(model, (batches[0],)).module()
order = [number for number, node in enumerate(module.graph.nodes)
         if node.op not in ("placeholder", "get_attr", "output")]
""",
}


def snippets():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        name = str(page.relative_to(ROOT))
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text[:match.start()].count("\n") + 1
            yield pytest.param(GIVEN.get(name, ""), match[1], id=f"{name}:{line}")


def run_program(program, output):
    os.chdir(program.parent)
    with output.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    runpy.run_path(str(program), run_name="__main__")


@pytest.mark.parametrize(("given", "snippet"), list(snippets()))
def test_a_snippet_runs(tmp_path, given, snippet):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = tmp_path / "snippet.py"
    program.write_text(given + snippet, encoding="utf-8")
    output = tmp_path / "output.txt"
    process = FORKS.Process(target=run_program, args=(program, output))
    process.start()
    process.join(120)
    code = process.exitcode
    process.kill()  # where it hangs: nobody may wait for it at the end
    assert code == 0, output.read_text(encoding="utf-8")
