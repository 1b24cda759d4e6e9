"""Who includes whom: every #include line against the table of ARCHITECTURE.md."""

import re
from functools import cache
from pathlib import Path

from sources import read, run_alone, tracked_files

TABLE_IN = Path("ARCHITECTURE.md")
HEADING = "## Who may include whom"

# The C++ library: all that the engine may include from outside, but for the exceptions below.
STANDARD = set(
    """algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv
    chrono cinttypes climits clocale cmath codecvt compare complex concepts condition_variable
    coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar
    cwctype deque exception execution filesystem format forward_list fstream functional future
    initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map
    memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio
    regex scoped_allocator semaphore set shared_mutex source_location span sstream stack
    stdexcept stop_token streambuf string string_view strstream syncstream system_error thread
    tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant
    vector version""".split()
)

# A hint to the operating system that the standard library has no word for.
EXCEPTIONS = {"tidemark/engine/base/large_pages.cpp": {"sys/mman.h"}}

# The engine must not print: the headers that do.
PRINTING = {"iostream", "print", "syncstream"}

# What the third column of the table allows, by the beginnings of what it forbids.
TORCH = ("torch/", "ATen/", "c10/", "pybind11/", "Python.h")
FORBIDDEN_OUTSIDE = {
    "the standard library": None,  # all but the standard library
    "libraries": TORCH,
    "torch": ("CLI/", "fmt/"),
    "anything": (),
}

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
_FOLDER = re.compile(r"`([^`]+)`")


class Layers:
    """The table: folder, folders of ours that it may reach, what it may take from outside."""

    def __init__(self, text: str) -> None:
        self.may_reach: dict[str, list[str]] = {}
        self.outside: dict[str, str] = {}
        section = text.partition(HEADING)[2].partition("\n## ")[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) < 3 or "`" not in cells[0]:
                continue
            for folder in _FOLDER.findall(cells[0]):
                self.may_reach[folder] = [folder, *_FOLDER.findall(cells[1])]
                self.outside[folder] = cells[2]

    def row_of(self, path: str) -> str | None:
        """The most exact row of the table that a file belongs to."""
        rows = [row for row in self.may_reach if path.startswith(row + "/")]
        return max(rows, key=len, default=None)

    def allows(self, row: str, path: str) -> bool:
        return any(path.startswith(folder + "/") for folder in self.may_reach[row])


class Tree:
    """The C++ files, what each includes, and what it reaches through headers."""

    def __init__(self, root: Path) -> None:
        self.files = {
            path.as_posix(): read(root, path)
            for path in tracked_files(root)
            if path.suffix in {".h", ".cpp", ".inc"}
        }
        folders = {path.partition("/")[0] for path in self.files}
        self.is_ours = lambda name: name.partition("/")[0] in folders
        self.reached_by = cache(self._reached_by)

    def includes(self, path: str) -> list[tuple[int, str, str]]:
        """Line, kind of quote and name of each include."""
        lines = enumerate(self.files[path].splitlines(), 1)
        found = ((number, _INCLUDE.match(line)) for number, line in lines)
        return [(number, *match.groups()) for number, match in found if match]

    def _reached_by(self, path: str) -> frozenset[str]:
        """Everything of ours behind an include of this file, itself too; a cycle ends the walk."""
        reached, waiting = {path}, [path]
        while waiting:
            for _, _, name in self.includes(waiting.pop()):
                if name in self.files and name not in reached:
                    reached.add(name)
                    waiting.append(name)
        return frozenset(reached)


def problem_inside(layers: Layers, tree: Tree, row: str, name: str) -> str | None:
    """What is wrong with an include of ours."""
    if name not in tree.files:
        return f"there is no file {name}: an include is the path from the root"
    for reached in sorted(tree.reached_by(name), key=lambda path: (path != name, path)):
        if not layers.allows(row, reached):
            way = "" if reached == name else f", which it reaches through {name}"
            return f"{row} must not include {reached}{way}"
    return None


def problem_outside(layers: Layers, row: str, path: str, quote: str, name: str) -> str | None:
    """What is wrong with an include of somebody else's."""
    if quote == '"':
        return f'an include of ours is the path from the root, not "{name}"'
    if layers.outside[row] not in FORBIDDEN_OUTSIDE:
        return f"{TABLE_IN} says {layers.outside[row]!r} of {row}, which the check does not know"
    forbidden = FORBIDDEN_OUTSIDE[layers.outside[row]]
    if forbidden is not None:
        return f"{row} must not include <{name}>" if name.startswith(forbidden) else None
    if name in PRINTING:
        return f"the engine does not print, so it needs no <{name}>"
    if name not in STANDARD and name not in EXCEPTIONS.get(path, ()):
        return f"{row} is standard C++ and nothing else, so it has no <{name}>"
    return None


def find_problems(root: Path) -> list[str]:
    layers, tree = Layers(read(root, TABLE_IN)), Tree(root)
    problems = []
    for path in tree.files:
        row = layers.row_of(path)
        if row is None:
            problems.append(f"{path}: no row of {TABLE_IN} says what it may include")
            continue
        for number, quote, name in tree.includes(path):
            if tree.is_ours(name):
                problem = problem_inside(layers, tree, row, name)
            else:
                problem = problem_outside(layers, row, path, quote, name)
            if problem:
                problems.append(f"{path}:{number}: {problem}")
    return problems


if __name__ == "__main__":
    run_alone(find_problems)
