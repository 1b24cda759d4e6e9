"""Each verdict through the command: docs/verdicts.md shows what is printed, and with which exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from estimating import EXAMPLES
from forked_commands import run_command

ROOT = EXAMPLES.parent
PAGE = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"Exit code (\d)\.\n\n```\n\$ tidemark ([^\n]+)\n([^`]+)```", PAGE)


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def steady(report: str) -> str:
    """Without the clock, torch's version, and how long garbage lived: the count of events, the chart."""
    report = re.sub(r" in [\d.]+ \w+,\s+torch\s+\S+$", "", report, flags=re.MULTILINE)
    report = re.sub(r", [\d\s]+ events?\b", "", report)
    return re.sub(r"^Timeline of .*?\n\n", "", report, flags=re.MULTILINE | re.DOTALL)


def test_the_page_shows_every_script_of_its_folder() -> None:
    assert sorted(Path(words).name for _, words, _ in SHOWN) == sorted(
        script.name for script in (EXAMPLES / "verdicts").glob("*.py"))


@pytest.mark.usefixtures("library_workspaces")
@pytest.mark.parametrize(("code", "words", "report"), SHOWN, ids=[Path(words).stem for _, words, _ in SHOWN])
def test_the_page_shows_what_is_printed(code: str, words: str, report: str) -> None:
    done = run_command(*words.split(), cwd=ROOT)
    assert done.returncode == int(code), done.stderr
    assert steady(done.stdout) == steady(report)


def test_a_script_that_is_no_python_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nmodel = (\n")
    done = run_command("estimate", "--gpu", "t4", "train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert " ".join(done.stdout.split()).startswith(
        "Cannot tell whether it fits on Tesla T4: SyntaxError: '(' was never closed (train.py:2). ")
    assert 'File "train.py", line 2\n' in done.stderr
