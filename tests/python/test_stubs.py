"""The stubs and the extension name the same things, and strict mypy accepts a typed program."""

import ast
import enum
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tidemark
from tidemark import _engine, graphs

PACKAGE = Path(tidemark.__file__).parent
HERE = Path(__file__).parent


def is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__version__", "_repr_html_")


def names_in(body: list[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return {name for name in names if is_public(name)}


def stub_classes() -> dict[str, ast.ClassDef]:
    stub = ast.parse((PACKAGE / "_engine.pyi").read_text())
    return {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}


STUBS = stub_classes()
PUBLIC_CLASSES = sorted(name for name in STUBS if is_public(name))
ENUMS = ["Category", "Kind", "LifeSpan", "Phase", "Severity", "TimelineAxis"]


def members_in_stub(name: str) -> set[str]:
    node = STUBS[name]
    members = names_in(node.body)
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in STUBS:
            members |= members_in_stub(base.id)
    return members


def members_at_run_time(cls: type) -> set[str]:
    if issubclass(cls, enum.Enum):
        return set(cls.__members__)
    return {name for name in vars(cls) if is_public(name)}


def test_the_stub_names_what_the_module_has():
    stub = ast.parse((PACKAGE / "_engine.pyi").read_text())
    assert names_in(stub.body) == {name for name in dir(_engine) if is_public(name)}


@pytest.mark.parametrize("name", PUBLIC_CLASSES)
def test_each_class_has_the_members_of_its_stub(name):
    assert members_in_stub(name) == members_at_run_time(getattr(_engine, name))


@pytest.mark.parametrize("name", ["_graph", "_profile", "_recorder"])
def test_a_stub_for_torch_names_what_its_module_has(name: str):
    pytest.importorskip("torch")
    module = importlib.import_module(f"tidemark.{name}")
    body = ast.parse((PACKAGE / f"{name}.pyi").read_text()).body
    told = {node.name: node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert set(told) == {one for one in dir(module) if is_public(one)}
    for node in told.values():
        if isinstance(node, ast.ClassDef):
            assert names_in(node.body) == members_at_run_time(getattr(module, node.name)), node.name


@pytest.mark.parametrize("name", ENUMS)
def test_each_enum_has_the_values_of_its_stub(name):
    values = {
        node.targets[0].id: node.value.value
        for node in STUBS[name].body
        if isinstance(node, ast.Assign)
    }
    assert values == {member.name: member.value for member in getattr(_engine, name)}


def test_the_package_exports_all_but_graphs():
    public = {name for name in dir(_engine) if is_public(name)}
    assert public - set(tidemark.__all__) == public & set(graphs.__all__)
    assert all(hasattr(tidemark, name) for name in tidemark.__all__)


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_every_function_and_class_explains_itself():
    for name in tidemark.__all__:
        thing = getattr(tidemark, name)
        if callable(thing):
            assert thing.__doc__, name


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy has read of torch and others: most of its time, and the same for all runs."""
    return tmp_path_factory.mktemp("mypy")


def run_mypy(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # mypy finds installed packages by itself, and one in a build folder only when told.
    is_installed = "site-packages" in PACKAGE.parts
    environment = dict(os.environ) | ({} if is_installed else {"MYPYPATH": str(PACKAGE.parent)})
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={cache}",
         *arguments],
        capture_output=True, text=True, cwd=HERE, env=environment, check=False,
    )


def test_strict_mypy_accepts_a_typed_program_and_every_exported_name(tmp_path: Path, cache: Path):
    pytest.importorskip("mypy")
    names = tmp_path / "names.py"
    names.write_text("import tidemark\n" + "".join(f"tidemark.{n}\n" for n in tidemark.__all__))
    result = run_mypy(cache, "typed_program.py", str(names))
    assert result.returncode == 0, result.stdout


def test_strict_mypy_accepts_the_package_and_its_command(cache: Path):
    pytest.importorskip("mypy")
    # The whole of it by name: of modules that are only imported nothing is told.
    result = run_mypy(cache, "--package", "tidemark")
    assert result.returncode == 0, result.stdout


def test_strict_mypy_refuses_a_wrong_keyword(tmp_path: Path, cache: Path):
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import tidemark\ntidemark.TapeBuilder().mark('x', ops='aten::mm')\n")
    result = run_mypy(cache, str(wrong))
    assert result.returncode == 1 and "call-arg" in result.stdout, result.stdout
