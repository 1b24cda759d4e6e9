"""Each source file begins by saying what it is, in a sentence."""

import re
from pathlib import Path

from sources import read, run_alone, tracked_files

# How a first comment begins, by the file's ending (or whole name).
MARKS = {
    ".h": ("// ",),
    ".cpp": ("// ",),
    ".py": ('"""', "# "),
    ".pyi": ('"""', "# "),
    ".cmake": ("# ",),
    ".sh": ("# ",),
    "CMakeLists.txt": ("# ",),
    "Makefile": ("# ",),
    ".ts": ("// ",),
}
_LEAST_WORDS = 2


def first_comment(lines: list[str], marks: tuple[str, ...]) -> str | None:
    """The comment the file begins with, its lines joined; a #! line may stand before it."""
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    mark = next((m for m in marks if lines and lines[0].startswith(m)), None)
    if mark is None:
        return None
    if mark == '"""':
        return "\n".join(lines)[3:].partition('"""')[0]
    kept = []
    for line in lines:
        if not line.startswith(mark.rstrip()):
            break
        kept.append(line[len(mark):])
    return " ".join(kept)


def problem_with(code: str, marks: tuple[str, ...]) -> str | None:
    comment = first_comment(code.splitlines(), marks)
    if comment is None:
        return "the first line is not a comment that says what the file is"
    if len(comment.split()) < _LEAST_WORDS or not re.search(r"[.:?!](\s|$)", comment):
        return "the first comment is not a sentence"
    return None


def find_problems(root: Path) -> list[str]:
    problems = []
    for path in tracked_files(root):
        marks = MARKS.get(path.name) or MARKS.get(path.suffix)
        code = read(root, path) if marks else ""
        problem = problem_with(code, marks) if code.strip() else None
        if problem:
            problems.append(f"{path}:1: {problem}")
    return problems


if __name__ == "__main__":
    run_alone(find_problems)
