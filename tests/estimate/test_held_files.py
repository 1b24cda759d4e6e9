"""Files that are held back: a script sees what it would see, and the disk stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.estimation.held_files import LIBRARY

OPERATIONS = Path(__file__).with_name("file_operations.py")


def fill(folder: Path) -> None:
    """What is there before."""
    (folder / "one" / "deep").mkdir(parents=True)
    (folder / "two").mkdir()
    for name in ("a", "b", "one/a", "one/deep/a", "two/a"):
        (folder / name).write_text(f"before, as {name}")
    (folder / "link").symlink_to("one")


def disk(folder: Path) -> dict[str, object]:
    """Everything in a folder, with contents; not folders, which may be made for a while."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


def seen(folder: Path, seed: int, held_in: Path | None) -> str:
    environment = dict(os.environ)
    if held_in:
        held_in.mkdir()
        environment |= {"LD_PRELOAD": str(LIBRARY), "TIDEMARK_SCRATCH": str(held_in)}
    done = subprocess.run([sys.executable, "-S", str(OPERATIONS), str(seed), "60"], cwd=folder,
                          env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("seeds", [range(0, 20), range(20, 40)], ids=str)
def test_a_script_sees_what_it_does_and_the_disk_does_not(tmp_path: Path, seeds: range) -> None:
    """The oracle is the disk itself: the same operations on another copy of the same files."""
    for seed in seeds:
        plain, held = tmp_path / f"{seed}-plain", tmp_path / f"{seed}-held"
        plain.mkdir()
        held.mkdir()
        fill(plain)
        fill(held)
        before = disk(held)
        expected = seen(plain, seed, None).splitlines()
        found = seen(held, seed, tmp_path / f"{seed}-scratch").splitlines()
        for number, (line, other) in enumerate(zip(expected, found, strict=True)):
            assert line == other, f"seed {seed}, operation {number}"
        assert disk(held) == before, f"seed {seed}"


UNHELD = """
import os
from tidemark.estimation import held_files
os.environ["LD_PRELOAD"] = str(held_files.LIBRARY)  # asked for, and yet not loaded
held_files.start_with_library()
print("the script would run")
"""


def test_a_process_that_cannot_hold_files_refuses_to_run_a_script() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([sys.executable, "-c", UNHELD], env=environment, capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert "could not be loaded before libc, so the script's files would not be safe\n  hint: " in done.stderr


BLANKS = """
import sys
from pathlib import Path
from tidemark.estimation import held_files
held_files.LIBRARY = Path(sys.argv[1])
held_files.start_with_library()
held_files.HeldFiles()
print(held_files.loaded() is not None, flush=True)
"""


def test_a_package_in_a_folder_with_blanks_holds_files_too(tmp_path: Path) -> None:
    library = tmp_path / "my project: venv" / LIBRARY.name
    library.parent.mkdir()
    library.symlink_to(LIBRARY)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    program = tmp_path / "program.py"
    program.write_text(BLANKS)
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([sys.executable, str(program), str(library)], capture_output=True, text=True,
                          env=environment | {"TMPDIR": str(temporary)}, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert list(temporary.iterdir()) == []
