"""ARCHITECTURE.md against the tree: what it names exists, and every top folder is named."""

import re
from pathlib import Path

from sources import read, run_alone, tracked_files

MAP = Path("ARCHITECTURE.md")
_BACKTICKS = re.compile(r"`([^`\n]+)`")
_TREE_ROW = re.compile(r"^( *)([\w.-]+)/(?:\s|$)")


def looks_like_a_path(word: str) -> bool:
    """A word with a slash or a file's ending, and nothing that only commands and code have."""
    if re.search(r"[\s…*<>:=()\[\]{}]", word) or word.startswith(("-", "/")):
        return False
    return "/" in word or bool(re.search(r"\w\.(md|h|cpp|py|txt|json|toml|html|sh)$", word))


def paths_in_tree(block: list[str]) -> list[str]:
    """The folders of a drawn tree: two blanks deeper is one folder further in."""
    paths, parents = [], []
    for line in block:
        row = _TREE_ROW.match(line)
        if not row:
            continue
        depth = len(row.group(1)) // 2
        parents = parents[:depth] + [row.group(2)]
        paths.append("/".join(parents))
    return paths


def split_fences(text: str) -> tuple[list[str], list[str]]:
    """Lines outside and inside of ``` fences."""
    outside, inside, is_inside = [], [], False
    for line in text.splitlines():
        if line.startswith("```"):
            is_inside = not is_inside
        else:
            (inside if is_inside else outside).append(line)
    return outside, inside


def find_problems(root: Path) -> list[str]:
    if not (root / MAP).exists():
        return [f"{MAP} is missing"]
    outside, inside = split_fences(read(root, MAP))
    words = [word for line in outside for word in _BACKTICKS.findall(line)]
    tree = paths_in_tree(inside)
    named = {word.rstrip("/") for word in words} | set(tree)
    problems = [
        f"{MAP} names {path}, which does not exist"
        for path in sorted({word for word in words if looks_like_a_path(word)} | set(tree))
        if not (root / path).exists()
    ]
    folders = sorted({path.parts[0] for path in tracked_files(root) if len(path.parts) > 1})
    return problems + [f"{MAP} does not name the folder {f}" for f in folders if f not in named]


if __name__ == "__main__":
    run_alone(find_problems)
