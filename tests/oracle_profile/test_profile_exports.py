"""Files of the timeline, and PyTorch's own callers on our classes, beside PyTorch's."""

import gzip
import json
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
import torch.profiler._memory_profiler as theirs
from profile_comparing import profiled
from profile_programs import PROGRAMS

from tidemark.compat import memory_profiler as ours

NAMES = ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT",
         "AUTOGRAD_DETAIL", "UNKNOWN"]  # fmt: skip


@pytest.fixture(scope="module")
def profile() -> torch.profiler.profile:
    return profiled(PROGRAMS["transformer_steps"]())


@pytest.fixture(scope="module")
def lines(profile: torch.profiler.profile) -> dict[str, object]:
    result = profile.profiler.kineto_results
    return {
        name: module.MemoryProfileTimeline(module.MemoryProfile(result))
        for name, module in (("theirs", theirs), ("ours", ours))
    }


@pytest.mark.parametrize("how", ["export_memory_timeline", "export_memory_timeline_raw"])
def test_files_are_the_same(how: str, lines: dict[str, object], tmp_path: Path) -> None:
    for name, one in lines.items():
        getattr(one, how)(str(tmp_path / name), "cpu")
    expected, found = (json.loads((tmp_path / name).read_text()) for name in ("theirs", "ours"))
    assert found == expected
    assert len(found) > 1


def test_raw_json_is_raw(lines: dict[str, object], tmp_path: Path) -> None:
    lines["theirs"].export_memory_timeline_raw(str(tmp_path / "theirs"), "cpu")
    lines["ours"].export_memory_timeline(str(tmp_path / "ours.raw.json"), "cpu")  # D19
    assert (tmp_path / "ours.raw.json").read_text() == (tmp_path / "theirs").read_text()


def test_named_series_are_the_rows_by_name(lines: dict[str, object], tmp_path: Path) -> None:
    lines["ours"].export_memory_timeline_named(str(tmp_path / "named.json"), "cpu")
    named = json.loads((tmp_path / "named.json").read_text())
    times, rows = lines["theirs"]._coalesce_timeline("cpu")
    assert list(named["categories"]) == NAMES
    assert named["times_us"] == times
    assert [[0, *row] for row in zip(*named["categories"].values())] == rows
    assert named["peak"]["bytes"] == max(map(sum, rows))
    assert named["maxima"] == {name: max(row[at + 1] for row in rows) for at, name in enumerate(NAMES)}


def test_a_page_stands_alone_also_of_a_device_without_memory(
    lines: dict[str, object], tmp_path: Path
) -> None:
    for device, wanted in (("cpu", "<svg"), ("cuda:5", "Nothing was allocated")):
        path = tmp_path / f"{device}.html"
        lines["ours"].export_memory_timeline_html(str(path), device, title="a <title>")
        page = path.read_text()
        assert wanted in page and "http" not in page and "a &lt;title&gt;" in page
        assert all(name in page for name in NAMES)


def test_pytorchs_callers_run_on_ours(tmp_path: Path) -> None:
    """In a process of its own: the original's place is taken for good."""
    script = Path(__file__).parent / "run_callers.py"
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True,
                          text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected, found = (json.loads((tmp_path / f"{who}.json").read_text()) for who in ("theirs", "ours"))
    assert found == expected
    for suffix in ("json.gz", "raw.json.gz"):
        expected, found = (gzip.open(tmp_path / f"{who}.{suffix}").read() for who in ("theirs", "ours"))
        assert json.loads(found) == json.loads(expected)
    assert (tmp_path / "theirs.plot").read_text() == (tmp_path / "ours.plot").read_text()
    assert "<svg" in (tmp_path / "ours.html").read_text()


def test_the_example_reports_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["profile_step.py"])
    runpy.run_path(str(Path(__file__).parents[2] / "examples/profile_step.py"), run_name="__main__")
    said = capsys.readouterr().out
    # Two layers of 256 x 1024 + 1024 and 1024 x 10 + 10 floats: 1.04 MiB.
    assert "1.04 MiB" in said and "Sequential.0" in said and "2 steps" in said


def test_every_name_of_the_original_is_there() -> None:
    public = {name for name, value in vars(theirs).items()
              if getattr(value, "__module__", "") == theirs.__name__}  # fmt: skip
    missing = public - {"_extract_parameters_and_gradients"} - set(dir(ours))
    assert missing == set()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from tidemark.compat import MemoryProfile, MemoryProfileTimeline

    assert MemoryProfile is ours.MemoryProfile
    assert MemoryProfileTimeline is ours.MemoryProfileTimeline
