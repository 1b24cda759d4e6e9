"""The recipe of ARCHITECTURE.md for a new analysis: a toy one is added by it, built and run."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import births
import pytest
from quick_compiler import QUICK_COMPILER

ROOT = Path(__file__).resolve().parents[2]
STUB = "python/tidemark/_engine.pyi"
EXAMPLE = ROOT / "examples" / "transformer.tape.txt"

# No optimization, many files at once, none of the libraries that a tape in text form does not need.
OPTIONS = (
    "-DTIDEMARK_CLI=ON", "-DTIDEMARK_UNITY=ON", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0",
    "-DZSTD_LIBRARY=", "-DZIP_LIBRARY=", "-DSIMDJSON_LIBRARY=", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON",
)


def run(*words: object) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def recipe() -> str:
    """What has to be done for an analysis, with its report and its verb."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    parts = [text.partition(f"**Add {what}")[2].partition("\n**Add ")[0]
             for what in ("an analysis", "a report", "a verb")]
    return re.sub(r"\s+", " ", " ".join(parts))


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the toy in it."""
    folder = tmp_path_factory.mktemp("recipe") / "tree"
    for part in ("cmake", "python/src", "tidemark"):
        shutil.copytree(ROOT / part, folder / part)
    for file in ("CMakeLists.txt", STUB):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    for name, text in births.FILES.items():
        assert not (folder / name).exists()
        (folder / name).write_text(text, encoding="utf-8")
    for name, (neighbour, line) in births.LINES.items():
        before, found, after = (folder / name).read_text(encoding="utf-8").partition(neighbour)
        rest_of_line, _, below = after.partition("\n")
        changed = f"{before}{found}{rest_of_line}\n{line}\n{below}"
        (folder / name).write_text(changed, encoding="utf-8")
    with (folder / STUB).open("a", encoding="utf-8") as stub:
        stub.write(births.TYPES)
    return folder


@pytest.fixture(scope="session")
def command(tree: Path) -> Path:
    build = tree.parent / "build"
    run("cmake", "-S", tree, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={QUICK_COMPILER}", *OPTIONS)
    run("cmake", "--build", build, "--target", "tidemark_cli")
    return build / "tidemark" / "cli" / "tidemark"


def test_an_analysis_touches_the_lists_that_its_recipe_names_and_no_other_file(tree: Path) -> None:
    named = set(re.findall(r"(?:[Oo]ne line|types) in `([^`]+)`", recipe()))
    assert named == {*births.LINES, STUB}
    old = {path for path in tree.rglob("*") if path.is_file()
           and str(path.relative_to(tree)) not in births.FILES}
    changed = {str(path.relative_to(tree)) for path in old
               if path.read_bytes() != (ROOT / path.relative_to(tree)).read_bytes()}
    assert changed == named


def test_the_places_of_a_new_analysis_are_at_most_six() -> None:
    steps = re.findall(r" (\d)\. ", recipe())
    assert steps == list("123456")


def births_in_text() -> dict[str, int]:
    """The births in the example, counted in its text: all are on the one device that it names."""
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    devices = [line.split()[1] for line in lines if line.startswith("device ")]
    count = sum(re.match(r"\s*(@\d+\s+)?alloc ", line) is not None for line in lines)
    assert len(devices) == 1 and count > 0
    return {devices[0]: count}


def test_the_new_verb_answers_in_text_and_json(command: Path) -> None:
    ((device, count),) = births_in_text().items()
    text = run(command, "births", EXAMPLE)
    assert [line.split() for line in text.splitlines()].count([device, str(count)]) == 1, text
    answer = json.loads(run(command, "births", EXAMPLE, "--json"))
    assert answer["report"] == "births"
    assert answer["devices"] == [{"device": device, "count": count}]


def test_the_help_names_the_new_verb(command: Path) -> None:
    assert "births" in run(command, "--help")
    assert "how many storages are born" in run(command, "births", "--help")
