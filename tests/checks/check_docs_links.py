"""Relative links of the Markdown files: their files and headings exist."""

import re
from pathlib import Path

from sources import read, run_alone, tracked_files

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")


def prose_lines(text: str) -> list[tuple[int, str]]:
    """Numbered lines outside of code fences, without inline code."""
    lines, is_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            lines.append((number, re.sub(r"`[^`]*`", "", line)))
    return lines


def anchors_of(text: str) -> set[str]:
    """What the headings are called in links: small letters, blanks as dashes, no punctuation."""
    anchors, is_code = set(), False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        heading = re.match(r"#+\s+(.*)", line)
        if heading and not is_code:
            words = re.sub(r"[^\w\s-]", "", heading.group(1).strip().lower())
            anchors.add(re.sub(r"\s", "-", words))
    return anchors


def problem_with(root: Path, page: Path, target: str) -> str | None:
    file, _, anchor = target.partition("#")
    linked = (root / page.parent / file) if file else root / page
    if not linked.exists():
        return f"links to {target}, which does not exist"
    if anchor and linked.suffix == ".md":
        if anchor not in anchors_of(linked.read_text(encoding="utf-8")):
            return f"links to {target}, but there is no such heading"
    return None


def find_problems(root: Path) -> list[str]:
    problems = []
    for page in tracked_files(root):
        if page.suffix != ".md":
            continue
        for number, line in prose_lines(read(root, page)):
            for match in _LINK.finditer(line):
                target = match.group(1) or match.group(2)
                if _ELSEWHERE.match(target):
                    continue
                problem = problem_with(root, page, target)
                if problem:
                    problems.append(f"{page}:{number}: {problem}")
    return problems


if __name__ == "__main__":
    run_alone(find_problems)
