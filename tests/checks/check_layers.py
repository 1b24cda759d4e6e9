"""Who includes whom: every #include line against the table of the house."""

import re
from pathlib import Path

from sources import read, run_alone, tracked_files

# Folder: the folders of ours that it may include besides itself.
MAY_USE = {
    "engine/base": [],
    "engine/tape": ["engine/base"],
    "engine/operators": ["engine/base"],
    "engine/replay": ["engine/operators", "engine/tape", "engine/base"],
    "engine/allocator": ["engine/operators", "engine/tape", "engine/base"],
    "engine/dataflow": ["engine/operators", "engine/tape", "engine/base"],
    "engine/graph": ["engine/allocator", "engine/operators", "engine/tape", "engine/base"],
    "engine/analyses": [
        "engine/replay",
        "engine/allocator",
        "engine/graph",
        "engine/dataflow",
        "engine/tape",
        "engine/base",
    ],
    "engine/reports": ["engine/analyses", "engine/base"],
    "readers": [
        "engine/tape",
        "engine/graph",
        "engine/operators",
        "engine/dataflow",
        "engine/base",
    ],
    "libtorch": ["engine"],
    "cli": ["engine", "readers"],
    "python": ["engine", "readers", "libtorch"],
    "bench": ["engine", "readers", "libtorch"],
    "tests": ["engine", "readers", "libtorch", "cli"],
    "examples": ["engine", "readers", "libtorch"],
}

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
EXCEPTIONS = {"engine/base/large_pages.cpp": {"sys/mman.h"}}

# The engine must not print: the headers that do.
PRINTING = {"iostream", "print", "syncstream"}

# Folder: what it must never include from outside, by the beginning of the name.
TORCH = ("torch/", "ATen/", "c10/", "pybind11/", "Python.h")
NEVER = {
    "readers": TORCH + ("CLI/", "fmt/"),
    "cli": TORCH,
    "libtorch": ("CLI/", "fmt/"),
    "python": ("CLI/", "fmt/"),
}

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path: Path) -> str:
    """The row of the table a file belongs to."""
    depth = 2 if path.parts[0] == "engine" else 1
    return "/".join(path.parts[:depth])


def folder_included(name: str) -> str:
    """The folder behind a tidemark/... include."""
    first = name.split("/")[1]
    return {"readers": "readers", "torch": "libtorch"}.get(first, f"engine/{first}")


def is_allowed(folder: str, included: str) -> bool:
    if folder == included:
        return True
    return any(included == use or included.startswith(use + "/") for use in MAY_USE[folder])


def problem_with(path: Path, quote: str, name: str) -> str | None:
    """What is wrong with one include, if anything."""
    folder = folder_of(path)
    if folder not in MAY_USE:
        return f"{folder} is not in the table of who may include whom"
    if name.startswith("tidemark/"):
        included = folder_included(name)
        return None if is_allowed(folder, included) else f"{folder} must not include {included}"
    if folder.startswith("engine/"):
        if quote == '"':
            return f'the engine writes "tidemark/FOLDER/FILE.h", not "{name}"'
        if name in PRINTING:
            return f"the engine does not print, so it needs no <{name}>"
        if name not in STANDARD and name not in EXCEPTIONS.get(path.as_posix(), ()):
            return f"the engine is standard C++ and nothing else, so it has no <{name}>"
    if name.startswith(NEVER.get(folder, ())):
        return f"{folder} must not include <{name}>"
    return None


def find_problems(root: Path) -> list[str]:
    problems = []
    for path in tracked_files(root):
        if path.suffix not in {".h", ".cpp"}:
            continue
        for number, line in enumerate(read(root, path).splitlines(), 1):
            found = _INCLUDE.match(line)
            problem = found and problem_with(path, *found.groups())
            if problem:
                problems.append(f"{path}:{number}: {problem}")
    return problems


if __name__ == "__main__":
    run_alone(find_problems)
