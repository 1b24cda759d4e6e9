"""tidemark.estimate(function): a function on virtual GPUs, whatever this process has loaded."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import programs
import pytest
import torch

import tidemark
from tidemark.gpus import find_gpu


def test_a_function_is_estimated_although_torch_is_loaded_here(tmp_path: Path) -> None:
    saved = tmp_path / "run.tape"
    answer = tidemark.estimate(programs.train, 1024, gpu="t4", steps=2, save=saved)
    # A weight and its gradient of 4 MiB each, a bias and its gradient, an input and an output of
    # 32 KiB; the sum and its gradient, 512 bytes each.
    assert answer.fits and 2 * (4 << 20) < answer.peak_bytes < 2 * (4 << 20) + (100 << 10)
    assert answer.report.run.gpu.name == "Tesla T4" and answer.report.run.steps == 2
    assert str(answer).startswith("Fits on Tesla T4") and "fits" in repr(answer)
    assert answer.verdict == "fits" and answer.budget_bytes > answer.peak_bytes
    assert answer.report.peak.devices[0].at.source.endswith("programs.py:14")
    assert tidemark.open(saved).peak().devices[0].allocated_bytes == answer.peak_bytes
    assert not torch.cuda.is_available()


def test_an_answer_travels_and_shows_itself() -> None:
    answer = tidemark.estimate(programs.use_all_devices, gpus=2)
    assert json.loads(answer.to_json()) == answer.to_dict() == answer.facts
    again = pickle.loads(pickle.dumps(answer))
    assert again == answer and str(again) == str(answer)
    assert answer._repr_html_().startswith("<pre") and "Fits on NVIDIA H100" in answer._repr_html_()
    assert len(answer.report.peak.devices) == 2
    assert answer.tape.scopes().scopes == []


def test_several_gpus() -> None:
    answer = tidemark.estimate(programs.use_all_devices, gpus=3)
    # The one that decides comes first.
    assert [d.requested_bytes for d in answer.report.peak.devices] == [12000, 4000, 8000]


def test_what_the_function_raises_is_shown_with_what_was_known() -> None:
    with pytest.raises(tidemark.EstimateError, match="ValueError: not today") as caught:
        tidemark.estimate(programs.fail, 1000)
    assert "programs.py" in str(caught.value) and "estimation" not in str(caught.value)
    assert caught.value.facts["peak"]["devices"][0]["requested_bytes"] == 4000
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.facts) == (str(caught.value), caught.value.facts)


def test_a_process_that_vanishes_is_an_error() -> None:
    with pytest.raises(tidemark.EstimateError, match="exit code 7"):
        tidemark.estimate(programs.leave)


def test_wrong_arguments_are_refused_here() -> None:
    with pytest.raises(TypeError, match="tidemark estimate SCRIPT"):
        tidemark.estimate("train.py")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="h100"):
        tidemark.estimate(programs.train, 1, gpu="h1000")
    for wrong in ({"on_value": "guess"}, {"oom": "stop"}, {"rank": 1}, {"gpus": 0}, {"steps": -1}):
        with pytest.raises(ValueError):
            tidemark.estimate(programs.train, 1, **wrong)  # type: ignore[arg-type]


def test_a_function_that_cannot_travel_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(tidemark.EstimateError, match="top of a module"):
        tidemark.estimate(lambda: None)


def run_script(path: Path, text: str) -> subprocess.CompletedProcess[str]:
    path.write_text(text)
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120,
                          check=False)


def test_a_function_of_the_main_script_travels(tmp_path: Path) -> None:
    done = run_script(tmp_path / "mine.py", """
import tidemark, torch
def use():
    torch.empty(1000, device="cuda")
if __name__ == "__main__":
    print(tidemark.estimate(use).report.peak.devices[0].requested_bytes)
""")
    assert done.stdout == "4000\n", done.stderr


def test_a_script_without_a_guard_is_told_to_have_one(tmp_path: Path) -> None:
    done = run_script(tmp_path / "mine.py", """
import tidemark
def use(): pass
tidemark.estimate(use)
""")
    assert done.returncode == 1 and '`if __name__ == "__main__":`' in done.stderr


@pytest.mark.parametrize(("name", "meant"), [
    ("a100", "did you mean a100-40gb or a100-80gb?"),
    ("RTX 4060 Ti", "did you mean rtx4060ti-16gb or rtx4060ti-8gb?"),
    ("h10", "did you mean h100 or h100-pcie or h100-nvl?"),
    ("b20o", "did you mean b200"),
])
def test_an_unknown_gpu_is_told_the_names_it_is_near_to(name: str, meant: str) -> None:
    with pytest.raises(ValueError) as caught:
        find_gpu(name)
    assert meant in str(caught.value) and "known are h100" in str(caught.value)


def test_a_name_like_none_gets_no_suggestion() -> None:
    with pytest.raises(ValueError) as caught:
        find_gpu("abacus")
    assert "did you mean" not in str(caught.value)
