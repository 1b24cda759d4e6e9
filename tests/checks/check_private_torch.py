"""Every private thing of torch that our sources use is in the table of private_torch.py, and on the page.

    python tests/checks/check_private_torch.py [ROOT | --write]

`--write` makes docs/private-torch.md anew.
"""

import ast
import importlib.util
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from sources import read, run_alone, tracked_files

TABLE = Path("python/tidemark/private_torch.py")
PAGE = Path("docs/private-torch.md")
HEAD = """# Private things of torch

What tidemark uses of torch beyond what torch promises to keep. This page is made by
`python tests/checks/check_private_torch.py --write` of the table in `python/tidemark/private_torch.py`
and of a search through the sources; the tests fail where the three differ, and where a source uses
something private that the table lacks.

A package refuses a torch of another series than the one it was compiled for, in one sentence, before
its C++ meets it (`python/tidemark/torch_match.py`). Within a series:

| noticed | means |
|---|---|
| at load | looked up when that part of tidemark is loaded; what is missing is named in one sentence, with the version of torch |
| at use | looked up when the program has loaded it itself: we load none of it |
| by the compiler | C++, known by its header; a symbol that is gone is told when the library is loaded, in one sentence |
| not | an answer in torch's place: whether torch still asks there cannot be seen from here |

| owner | names | used in | noticed | where torch has changed it |
|---|---|---|---|---|
"""
# Private namespaces of C++, the names of its interface to Python, members that are not for users.
_CPP = re.compile(
    r"\b(?P<owner>torch::autograd(?:::impl|::Engine)?|torch::dynamo::autograd|torch::jit|c10::impl"
    r"(?:::TorchDispatchModeTLS|::TorchDispatchModeKey)?|c10d|at::sequence_number|at::detail|at::native"
    r"|at::impl::PythonTorchFunctionTLS|at::impl::TorchFunctionDisabledState|impl)::(?P<name>\w+)"
    r"|\b(?P<bare>THP(?:Variable|Device)\w*|unsafeGet\w+|_unsafe_get_target|set_data_ptr_noswap"
    r"|_mutable_data_ptr_no_checks|thread_pool_shared_|device_ready_queues_|excluded_|included_"
    r"|_in_optimized_module|_is_in_optimized_module|_input_nodes|_args)\b")
_OWNERS_ONLY = {"impl", "Engine", "TorchDispatchModeTLS", "TorchDispatchModeKey"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def uses_in_cpp(code: str) -> Iterator[str]:
    for line in code.splitlines():
        if line.lstrip().startswith(("//", "#include", "namespace")):
            continue
        for match in _CPP.finditer(line):
            if match["bare"] or match["name"] not in _OWNERS_ONLY:
                yield match["bare"] or match["name"]


class PythonUses(ast.NodeVisitor):
    """Names of torch with something private in them, those that are replaced, and strings of both."""

    def __init__(self, ours: set[str]) -> None:
        self.ours = ours
        self.found: set[str] = set()
        self.known: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for one in node.names:
            if one.name.split(".")[0] == "torch":
                self.known[one.asname or "torch"] = one.name if one.asname else "torch"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and node.module.split(".")[0] == "torch":
            for one in node.names:
                self.known[one.asname or one.name] = path = f"{node.module}.{one.name}"
                self.see(path)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self.path_of(node)
        if path:
            return self.see(path)
        if is_private(node.attr) and node.attr not in self.ours:
            self.found.add(node.attr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        owner = any(self.path_of(one) for one in node.args)
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        words = [one.value for one in node.args if isinstance(one, ast.Constant)]
        if owner and called in ("ReplacedMethod", "HeardPoint"):
            self.found.update(words)
        if owner:
            self.found.update(word for word in words if isinstance(word, str) and is_private(word))
            self.found.update(one.arg for one in node.keywords if one.arg and is_private(one.arg))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A name that is compared with, or looked up."""
        word = node.value
        if isinstance(word, str) and is_private(word) and word.isidentifier():
            if word not in self.ours:
                self.found.add(word)

    def see(self, path: str) -> None:
        names = path.split(".")
        if any(map(is_private, names)):
            self.found.add(names[-1])

    def path_of(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.path_of(node.value)
            return f"{owner}.{node.attr}" if owner else None
        return None


def names_of_ours(trees: list[ast.Module]) -> set[str]:
    ours = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                ours.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                ours.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                ours.add(node.attr)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tidemark"):
                ours.update(one.name for one in node.names)
    return ours


# Of Python's own library; two cached properties and a C++ module of ours.
_NOT_TORCH = {"_getframe", "_exit", "_shutdown", "_run_exitfuncs", "_actions", "_alive", "_order", "_phantom"}


def find_uses(root: Path) -> dict[str, set[str]]:
    """Which files use which name."""
    uses: dict[str, set[str]] = defaultdict(set)
    files = [path for path in tracked_files(root) if path != TABLE]
    for path in files:
        if path.suffix in {".cpp", ".h"} and path.parts[:2] in {("tidemark", "libtorch"),
                                                               *(("python", one) for one in
                                                                 ("phantom", "graph", "record"))}:
            for name in uses_in_cpp(read(root, path)):
                uses[name].add(str(path))
    python = [path for path in files
              if path.suffix == ".py" and path.parts[:2] == ("python", "tidemark")]
    trees = [ast.parse(read(root, path)) for path in python]
    ours = names_of_ours(trees) | _NOT_TORCH
    for path, tree in zip(python, trees, strict=True):
        seen = PythonUses(ours)
        for node in (*(n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))), tree):
            seen.visit(node)
        for name in seen.found:
            uses[name].add(str(path))
    return uses


def load_table(root: Path):
    spec = importlib.util.spec_from_file_location("private_torch", root / TABLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks for its module
    spec.loader.exec_module(module)
    return module.TABLE


# In torch's own words elsewhere: a frame's name stands for them.
_BY_BEHAVIOUR = {"profile_hook_step": "python/tidemark/optimizer_steps.py"}


def files_of(row, uses: dict[str, set[str]]) -> list[str]:
    found = set().union(*(uses.get(name, set()) for name in row.names))
    return sorted(found | {_BY_BEHAVIOUR[name] for name in row.names if name in _BY_BEHAVIOUR})


def page(table, uses: dict[str, set[str]]) -> str:
    lines = []
    for row in table:
        names = ", ".join(f"`{name}`" for name in row.names)
        files = ", ".join(f"`{file}`" for file in files_of(row, uses))
        lines.append(f"| `{row.owner}` | {names} | {files} | {row.noticed} | {row.without} |\n")
    return HEAD + "".join(lines)


def find_problems(root: Path) -> list[str]:
    if not (root / TABLE).exists():
        return []
    table, uses = load_table(root), find_uses(root)
    listed = {name for row in table for name in row.names}
    owners = {word for row in table for word in re.split(r"\.|::", row.owner)}
    problems = [f"{sorted(files)[0]}: uses torch's {name}, which {TABLE} does not list"
                for name, files in sorted(uses.items()) if name not in listed | owners]
    problems += [f"{TABLE}: lists {name}, which no source uses"
                 for name in sorted(listed - uses.keys() - _BY_BEHAVIOUR.keys())]
    if not problems and (not (root / PAGE).exists() or read(root, PAGE) != page(table, uses)):
        problems.append(f"{PAGE}: is not what {Path(__file__).name} --write makes")
    return problems


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        here = Path(__file__).resolve().parents[2]
        (here / PAGE).write_text(page(load_table(here), find_uses(here)), encoding="utf-8")
    else:
        run_alone(find_problems)
