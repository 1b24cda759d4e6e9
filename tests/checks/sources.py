"""Which files the checks look at: those that git tracks, or all of a made-up tree."""

import subprocess
import sys
from pathlib import Path

_NOT_OURS = {".git", ".venv", "build", "__pycache__"}


def tracked_files(root: Path) -> list[Path]:
    """Paths relative to the root, sorted."""
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
        ).stdout
        found = [Path(name) for name in listed.split("\0") if name]
    else:
        found = [path.relative_to(root) for path in root.rglob("*")]
    return sorted(
        path for path in found if (root / path).is_file() and not _NOT_OURS & set(path.parts)
    )


def read(root: Path, path: Path) -> str:
    return (root / path).read_text(encoding="utf-8")


def run_alone(find_problems) -> None:
    """The main program of each check: [ROOT], prints the problems, fails if there are any."""
    default = Path(__file__).resolve().parents[2]
    problems = find_problems(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)
