"""Sizes past which a file or a function is a defect, whatever it does."""

import ast
import re
from pathlib import Path

from sources import read, run_alone, tracked_files

FILE_LINES = {".h": 400, ".cpp": 800, ".py": 800, ".pyi": 800}
FUNCTION_LINES = 80

_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_NO_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def without_noise(code: str) -> str:
    """The code without comments and literals, line for line."""
    return _NOISE.sub(lambda found: "\n" * found.group().count("\n"), code)


def cpp_functions(code: str) -> list[tuple[int, int]]:
    """First line and length of each function: a brace after a parenthesis, outside of others."""
    functions, open_at, depth_in_function, line, head = [], 0, 0, 1, ""
    for c in without_noise(code):
        line += c == "\n"
        if depth_in_function:
            depth_in_function += (c == "{") - (c == "}")
            if depth_in_function == 0:
                functions.append((open_at, line - open_at + 1))
                head = ""
        elif c == "{" and ")" in head and not _NO_FUNCTION.search(head):
            open_at, depth_in_function = line, 1
        elif c in "{};":
            head = ""
        else:
            head += c
    return functions


def python_functions(code: str) -> list[tuple[int, int]]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, kinds)]
    return [(node.lineno, node.end_lineno - node.lineno + 1) for node in nodes]


def problems_in(path: Path, code: str) -> list[str]:
    problems = []
    lines, most = code.count("\n"), FILE_LINES[path.suffix]
    if lines > most:
        problems.append(f"{path}: {lines} lines, more than {most}")
    functions = cpp_functions(code) if path.suffix in {".h", ".cpp"} else python_functions(code)
    for first, length in functions:
        if length > FUNCTION_LINES:
            problems.append(f"{path}:{first}: a function of {length} lines")
    return problems


def find_problems(root: Path) -> list[str]:
    paths = [path for path in tracked_files(root) if path.suffix in FILE_LINES]
    return [problem for path in paths for problem in problems_in(path, read(root, path))]


if __name__ == "__main__":
    run_alone(find_problems)
