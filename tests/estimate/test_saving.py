"""--save: what cannot be kept is told, before the run if that is known then, and never costs a report."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import programs
import pytest
from forked_commands import run_command

import tidemark

VERBS = pytest.mark.parametrize("verb", ["estimate", "record"])

# 100 000 births and deaths (a tape of 7 MB and more), then the peak: 64 MiB.
BUSY = """
import torch
for _ in range(COUNT):
    torch.empty(100, device=DEVICE)
kept = torch.empty(64 << 20, dtype=torch.uint8, device=DEVICE)
"""


def run(folder: Path, verb: str, save: str, text: str, *flags: str, **how: Any
        ) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(f"DEVICE = {'cuda' if verb == 'estimate' else 'cpu'!r}\n" + text)
    words = [verb, "--json", "--save", save, *flags, "train.py"]
    if not how:
        return run_command(*words, cwd=folder)
    return subprocess.run([sys.executable, "-m", "tidemark", *words], cwd=folder, capture_output=True,
                          text=True, timeout=300, check=False, **how)


@VERBS
@pytest.mark.parametrize(("save", "why"), [("no/such/run.tape", "No such file or directory"),
                                           (".", "Is a directory")])
def test_a_place_that_cannot_be_written_is_told_before_the_run(
    tmp_path: Path, verb: str, save: str, why: str
) -> None:
    done = run(tmp_path, verb, save, "open('ran', 'w')\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f"tidemark: {save}: cannot write: {why}\n"
                           "  hint: choose a folder that exists and may be written\n")
    assert not (tmp_path / "ran").exists()


@VERBS
def test_a_full_disk_costs_the_tape_and_not_the_report(tmp_path: Path, verb: str) -> None:
    done = run(tmp_path, verb, "/dev/full", BUSY.replace("COUNT", "1000"))
    assert done.returncode == 0, done.stderr
    assert "tidemark: /dev/full: cannot write: No space left on device" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["peak"]["devices"][0]["requested_bytes"] == 64 << 20
    assert [one["code"] for one in facts["diagnostics"]].count("tape-cut") == 1


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))


@VERBS
def test_a_disk_that_fills_during_the_run_keeps_what_it_took(tmp_path: Path, verb: str) -> None:
    done = run(tmp_path, verb, "run.tape", BUSY.replace("COUNT", "100_000"), preexec_fn=limit_files)
    assert done.returncode == 0, done.stderr
    assert "tidemark: run.tape: cannot write: File too large" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["peak"]["devices"][0]["requested_bytes"] == 64 << 20
    kept = tidemark.open(tmp_path / "run.tape")
    # Of 200 000; 38 bytes each and 3 MiB, less the block that was cut.
    assert 40_000 < len(kept.events) < 100_000
    assert "truncated-file" in {one.code for one in kept.diagnostics}
    if verb == "record":
        (told,) = [one for one in facts["diagnostics"] if one["code"] == "tape-cut"]
        assert told["where"] == f"event {len(kept.events)}"
        assert f"it has the first {len(kept.events)} of " in done.stderr


@VERBS
def test_a_name_that_ends_in_txt_is_the_text_form(tmp_path: Path, verb: str) -> None:
    done = run(tmp_path, verb, "run.txt", BUSY.replace("COUNT", "3"))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "run.txt").read_text()
    assert text.startswith("tape 1\n")
    tape = tidemark.read_text(text)
    assert tape.peak().devices[0].requested_bytes == 64 << 20
    assert tape.meta["run.ended"] == "script"


@VERBS
def test_text_on_a_full_disk_is_told(tmp_path: Path, verb: str) -> None:
    (tmp_path / "full.txt").symlink_to("/dev/full")
    done = run(tmp_path, verb, "full.txt", BUSY.replace("COUNT", "3"))
    assert done.returncode == 0, done.stderr
    assert "tidemark: full.txt: cannot write: No space left on device" in done.stderr
    assert json.loads(done.stdout)["peak"]["devices"]


TRAIN = """
import torch
model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(8))).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    model(torch.randn(4, 64, device="cuda")).sum().backward()
    optimizer.step()
"""
NOTED = TRAIN + "torch.compile(model)(torch.zeros(4, 64, device='cuda')).sum().item()\n"
FAILING = "import torch\nkept = torch.zeros(9, device='cuda')\nraise KeyError('test')\n"
LARGE = TRAIN + "kept = torch.empty(90 << 30, dtype=torch.uint8, device='cuda')\n"


@pytest.mark.parametrize("shown", ["", "--json", "--full --top 3", "--depth 1"])
@pytest.mark.parametrize(("text", "flags", "code"), [
    (TRAIN, "--steps 2", 0), (NOTED, "--world-size 4 --rank 1", 0), (FAILING, "", 2), (LARGE, "--oom raise", 1)],
    ids=["ended", "noted", "failing", "large"])
def test_the_report_of_a_saved_tape_is_what_the_estimate_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, flags: str, code: int, shown: str
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "train.py").write_text(text)
    done = run_command("estimate", "--save", "run.tape", *shown.split(), *flags.split(), "train.py", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    words = [sys.executable, "-m", "tidemark", "report", *shown.split(), "run.tape"]
    report = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert report == done.stdout != ""


def test_a_function_is_not_estimated_where_its_tape_cannot_be_kept() -> None:
    with pytest.raises(FileNotFoundError):
        tidemark.estimate(programs.train, 8, save="no/such/run.tape")
