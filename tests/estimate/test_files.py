"""An estimate changes no file: whatever a script saves, renames and removes is held back, and told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import programs
import pytest

import tidemark


class Folder:
    """A folder with scripts and files of a user, and a temporary folder beside it."""

    def __init__(self, path: Path) -> None:
        self.path, self.temporary = path / "work", path / "temporary"
        self.path.mkdir()
        self.temporary.mkdir()

    def environment(self) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.temporary)}

    def command(self, *flags: str) -> list[str]:
        return [sys.executable, "-m", "tidemark", "estimate", "--json", "--steps", "0", *flags, "train.py"]

    def estimate(self, text: str, *flags: str) -> dict[str, Any]:
        """Runs a script and checks that the disk is as it was; the report."""
        (self.path / "train.py").write_text(text)
        before = self.disk()
        done = subprocess.run(self.command(*flags), cwd=self.path, env=self.environment(),
                              capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        assert self.disk() == before
        assert self.left_over() == []
        facts: dict[str, Any] = json.loads(done.stdout)
        return facts

    def left_over(self) -> list[str]:
        """Scratch folders; PyTorch keeps a cache of its own in the temporary folder."""
        return [path.name for path in self.temporary.glob("tidemark-files-*")]

    def disk(self) -> dict[str, tuple[bytes, int]]:
        """Every file and folder, with its bytes and the time of its last change."""
        return {str(path.relative_to(self.path)):
                (path.read_bytes() if path.is_file() else b"",
                 path.stat().st_mtime_ns if path.is_file() else 0)
                for path in sorted(self.path.rglob("*")) if path.suffix != ".tape"}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def told(facts: dict[str, Any]) -> str:
    (note,) = [one for one in facts["diagnostics"] if one["code"] == "files-held-back"]
    assert note["severity"] == "note"
    return str(note["message"])


MODEL = """
import copy, glob, io, os, pickle, shutil, torch
from pathlib import Path
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.AdamW(model.parameters())
def train():
    model(torch.ones(2, 8, device="cuda")).sum().backward()
    optimizer.step()
"""

RESUMES = MODEL + """
state = torch.load("best.pt", map_location="cpu")
assert state["model"]["weight"].std() > .9  # the values of the file
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"]) if "optimizer" in state else None
for epoch in range(3):
    train()
    path = f"out/epoch{epoch}.pt"
    os.makedirs("out", exist_ok=True)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path + ".tmp")
    os.replace(path + ".tmp", path)
    assert os.path.exists(path) and not os.path.exists(path + ".tmp")
    kept = sorted(glob.glob("out/*.pt"))
    for old in kept[:-1]:
        os.remove(old)
    assert os.listdir("out") == [f"epoch{epoch}.pt"], os.listdir("out")
    torch.save({"model": model.state_dict()}, "best.pt")
    with open("log.csv", "a") as log:
        log.write(f"{epoch},0.5\\n")
assert Path("log.csv").read_text() == "epoch,loss\\n0,0.5\\n1,0.5\\n2,0.5\\n"
again = torch.load("best.pt")
assert again["model"]["weight"].device.type == "cuda" and again["model"]["weight"].shape == (8, 8)
model.load_state_dict(again["model"])
Path("old.pt").unlink()
shutil.rmtree("runs")
assert not Path("old.pt").exists() and not Path("runs").exists()
os.makedirs("runs/new")
assert os.listdir("runs") == ["new"]
shutil.move("best.pt", "moved.pt")
assert "model" in torch.load("moved.pt") and not Path("best.pt").exists()
"""


def test_a_script_that_resumes_saves_and_cleans_up_changes_nothing(folder: Folder) -> None:
    plain = ("import torch; torch.save({'model': {'weight': torch.randn(8, 8) * 3, "
             "'bias': torch.zeros(8)}}, 'best.pt')")
    subprocess.run([sys.executable, "-c", plain], cwd=folder.path, check=True)
    (folder.path / "runs" / "first").mkdir(parents=True)
    for name in ("old.pt", "out.txt", "runs/first/events"):
        (folder.path / name).write_text("the user's")
    (folder.path / "log.csv").write_text("epoch,loss\n")
    message = told(folder.estimate(RESUMES, "--save", "run.tape"))
    assert message == (
        "files held back: 3 the script wrote (log.csv, moved.pt, out/epoch2.pt), "
        "3 the script removed or renamed (best.pt, old.pt, runs); nothing on disk was changed")
    assert tidemark.open(folder.path / "run.tape").meta["run.ended"] == "script"


FORMS = MODEL + """
import ctypes, numpy, sqlite3, subprocess, sys
train()
known = {"ids": torch.arange(5, device="cuda"), "weight": model.weight}
for again in (pickle.loads(pickle.dumps(known)), copy.deepcopy(known)):
    assert again["ids"].tolist() == [0, 1, 2, 3, 4] and again["ids"].is_cuda
    assert again["weight"].shape == (8, 8) and isinstance(again["weight"], torch.nn.Parameter)
pickle.dump(model.state_dict(), open("state.pkl", "wb"))
assert pickle.load(open("state.pkl", "rb"))["weight"].is_cuda
torch.save(known, "old_form.pt", _use_new_zipfile_serialization=False)
assert torch.load("old_form.pt")["ids"].tolist() == [0, 1, 2, 3, 4]
buffer = io.BytesIO()
torch.save(known, buffer)
buffer.seek(0)
assert torch.load(buffer, map_location="cpu")["ids"].tolist() == [0, 1, 2, 3, 4]
class Unseekable:
    def __init__(self): self.data = b""
    def write(self, data): self.data += bytes(data); return len(data)
    def flush(self): pass
stream = Unseekable()
torch.save(known, stream)
assert torch.load(io.BytesIO(stream.data))["weight"].shape == (8, 8)
numpy.save("weight.npy", model.weight.detach().cpu().numpy())
numpy.savez("all.npz", **{name: value.cpu().numpy() for name, value in model.state_dict().items()})
assert numpy.load("weight.npy").shape == (8, 8) and numpy.load("all.npz")["bias"].shape == (8,)
torch.jit.script(torch.nn.Linear(2, 2)).save("script.pt")
assert torch.jit.load("script.pt")(torch.ones(1, 2)).shape == (1, 2)
table = sqlite3.connect("runs.db")
table.execute("create table run (name)")
table.commit()
subprocess.run([sys.executable, "-c", "open('child.txt', 'w').write('from a child')"], check=True)
assert Path("child.txt").read_text() == "from a child"
large = torch.randn(2000, 2000, device="cuda")
assert len(large.tolist()) == 2000 and large.cpu().numpy().shape == (2000, 2000)
assert not large.cpu().numpy().any()
"""


def test_every_form_of_a_file_is_held_back_and_found_again(folder: Folder) -> None:
    message = told(folder.estimate(FORMS))
    assert message.startswith("files held back: 7 the script wrote (all.npz, child.txt, old_form.pt, ")
    assert "removed" not in message


LIBRARIES = MODEL + """
import torch.distributed.checkpoint as distributed_checkpoint
from accelerate import Accelerator
from safetensors.torch import load_file, load_model, save, save_file, save_model
from transformers import GPT2Config, GPT2LMHeadModel
save_file(model.state_dict(), "model.safetensors")
assert load_file("model.safetensors", device="cuda")["weight"].is_cuda
assert load_file("model.safetensors")["weight"].shape == (8, 8)
save_model(model, "model.safetensors")
load_model(model, "model.safetensors")
assert len(save(model.state_dict())) > 8 * 8 * 4
config = GPT2Config(n_layer=1, n_embd=32, n_head=2, vocab_size=64, n_positions=32)
language = GPT2LMHeadModel(config).cuda()
language.save_pretrained("pretrained")
language.save_pretrained("pretrained", max_shard_size="20KB")
assert Path("pretrained/model.safetensors.index.json").exists()
assert GPT2LMHeadModel.from_pretrained("pretrained").config.n_embd == 32
accelerator = Accelerator()
model, optimizer = accelerator.prepare(model, optimizer)
train()
accelerator.save_state("accelerated")
accelerator.load_state("accelerated")
accelerator.save_model(model, "accelerated")
distributed_checkpoint.save(model.state_dict(), checkpoint_id="sharded")
distributed_checkpoint.load(model.state_dict(), checkpoint_id="sharded")
"""


def test_what_libraries_save_is_held_back(folder: Folder) -> None:
    for name in ("model.safetensors", "pretrained/config.json", "accelerated/model.safetensors",
                 "sharded/.metadata"):
        (folder.path / name).parent.mkdir(exist_ok=True)
        (folder.path / name).write_text("the user's")
    assert " the script wrote (" in told(folder.estimate(LIBRARIES))


# As Lightning keeps the best k: a file's new name depends on those that exist, others are removed.
LIGHTNING = MODEL + """
def checkpoint(path):
    version, chosen = 1, path
    while os.path.exists(chosen):
        chosen = path.with_name(f"{path.stem}-v{version}{path.suffix}")
        version += 1
    buffer = io.BytesIO()
    torch.save({"state_dict": model.state_dict(), "optimizer_states": [optimizer.state_dict()]}, buffer)
    path.parent.mkdir(parents=True, exist_ok=True)
    chosen.write_bytes(buffer.getvalue())
    return chosen
kept = []
for epoch in range(3):
    train()
    kept.append(checkpoint(Path("lightning_logs/version_0/checkpoints/best.ckpt")))
    if len(kept) > 1:
        kept.pop(0).unlink()
assert kept[0].name == "best-v1.ckpt", kept
link = Path("lightning_logs/last.ckpt")
if link.is_symlink() or link.is_file(): link.unlink()
os.symlink(os.path.relpath(kept[0], link.parent), link)
assert torch.load(link)["state_dict"]["weight"].shape == (8, 8)
"""


def test_lightning_s_idiom_is_held_back(folder: Folder) -> None:
    old = folder.path / "lightning_logs/version_0/checkpoints/best.ckpt"
    old.parent.mkdir(parents=True)
    old.write_text("the user's")
    message = told(folder.estimate(LIGHTNING))
    assert "lightning_logs/version_0/checkpoints/best-v1.ckpt" in message


LARGE = """
import os, time, torch
from safetensors.torch import load_file, save_file
def memory():
    with open("/proc/self/status") as status:
        return sum(int(line.split()[1]) for line in status if line.startswith(("RssAnon", "RssShmem")))
before = memory()
for place in ("cuda", "cpu"):
    loaded = torch.load("real.pt", map_location=place)
    assert loaded[0].device.type == place and loaded[0].numel() == 1 << 29
    del loaded
weights = {str(i): torch.empty(1 << 29, dtype=torch.bfloat16, device="cuda") for i in range(16)}
torch.save(weights, "large.pt")
assert torch.load("large.pt", map_location="cpu")["0"].numel() == 1 << 29
small = {name: weights[name] for name in ("0", "1")}
save_file(small, "large.safetensors")
for place in ("cuda", "cpu"):
    assert load_file("large.safetensors", device=place)["1"].device.type == place
for name, size in (("large.pt", 16 << 30), ("large.safetensors", 2 << 30)):
    assert os.path.getsize(name) > size and os.stat(name).st_blocks * 512 < 1 << 20, os.stat(name)
assert memory() - before < 200 << 10, memory() - before  # KiB
"""


def test_large_files_take_no_disk_and_no_memory(folder: Folder) -> None:
    """16 GiB are saved, and a file of 2 GiB is loaded; its zeros are a hole here, but not for torch."""
    subprocess.run([sys.executable, "-c", "import torch\nwith torch.serialization.skip_data():\n"
                    "    torch.save([torch.empty(1 << 29, dtype=torch.float32)], 'real.pt')"],
                   cwd=folder.path, check=True)
    real = folder.path / "real.pt"
    size = real.stat().st_size
    (folder.path / "train.py").write_text(LARGE)
    done = subprocess.run(folder.command(), cwd=folder.path, env=folder.environment(),
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.path.iterdir()) == ["real.pt", "train.py"]
    assert real.stat().st_size == size and folder.left_over() == []


def test_a_script_that_writes_nothing_has_no_note(folder: Folder) -> None:
    assert folder.estimate(MODEL + "train()", "--gpu", "h200")["diagnostics"] == []


KILLED = MODEL + """
os.makedirs("made/inside")
torch.save(model.state_dict(), "best.pt")
print("saved", flush=True)
time.sleep(60)
"""


def test_a_run_that_is_killed_leaves_a_scratch_folder_to_the_next(folder: Folder) -> None:
    (folder.path / "train.py").write_text(KILLED)
    run = subprocess.Popen(folder.command(), cwd=folder.path, env=folder.environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    assert any("saved" in line for line in run.stderr)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert len(folder.left_over()) == 1
    assert not (folder.path / "best.pt").exists()
    (folder.path / "train.py").write_text(MODEL)
    subprocess.run(folder.command(), cwd=folder.path, env=folder.environment(), capture_output=True,
                   timeout=120, check=False)
    assert folder.left_over() == []
    assert [path.name for path in folder.path.iterdir()] == ["train.py"]


def test_a_function_s_files_are_held_back(tmp_path: Path) -> None:
    kept = tmp_path / "best.pt"
    kept.write_text("the user's")
    answer = tidemark.estimate(programs.train_and_save, 8, str(kept), gpu="h200")
    assert kept.read_text() == "the user's"
    assert [one.code for one in answer.report.diagnostics] == ["files-held-back"]
