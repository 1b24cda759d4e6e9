"""Lines of Python's own library are never named as the user's, whichever of its folders they are in."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from tidemark.hidden_folders import hidden_folders


def is_hidden(file: Path, hidden: list[str]) -> bool:
    return any(str(file).startswith(one) for one in hidden)


def test_both_folders_of_an_environment_are_hidden_but_for_installed_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {"stdlib": tmp_path / "python", "platstdlib": tmp_path / "environment"}
    for folder in folders.values():
        (folder / "json").mkdir(parents=True)
        (folder / "site-packages" / "other").mkdir(parents=True)
        (folder / "copy.py").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(folders[name]))
    hidden = hidden_folders(tmp_path / "torch")
    for folder in folders.values():
        assert is_hidden(folder / "copy.py", hidden)
        assert is_hidden(folder / "json" / "decoder.py", hidden)
        assert not is_hidden(folder / "site-packages" / "other" / "train.py", hidden)
    assert is_hidden(tmp_path / "torch" / "nn" / "module.py", hidden)
    assert not is_hidden(tmp_path / "train.py", hidden)
