"""The C++ package as its users meet it: installed, found by CMake, linked, run."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TIDEMARK_BUILD", ROOT / "build" / "package"))


def run(*words: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C++ package installed into a folder of its own."""
    assert (BUILD / "CMakeCache.txt").exists(), f"nothing is built in {BUILD}: make install"
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--component", "cpp", "--prefix", folder)
    return folder


@pytest.fixture(scope="session")
def programs(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the example programs, built with nothing but the installed package."""
    folder = tmp_path_factory.mktemp("programs")
    run("cmake", "-S", ROOT / "examples" / "cpp", "-B", folder, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", "--build", folder)
    return folder


def test_the_example_program_finds_links_and_prints_its_peak(programs: Path) -> None:
    report = run(programs / "first_tape")
    assert "20.00 MiB" in report  # 4 MiB of weight and 16 MiB of activation
    assert "Parameter" in report and "Activation" in report


def test_the_program_of_the_page_finds_links_and_prints_its_peak(prefix: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8")
    for language, name in (("cmake", "CMakeLists.txt"), ("cpp", "first.cpp")):
        (text,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        (tmp_path / name).write_text(text)
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    assert "cuda:0  peak 20.00 MiB" in run(build / "first")


def test_the_package_installs_headers_and_nothing_of_torch(prefix: Path) -> None:
    headers = {str(path.relative_to(prefix)) for path in prefix.rglob("*.h")}
    assert "include/tidemark/engine/tape/builder.h" in headers
    assert not any("torch" in name for name in headers)


def test_the_example_pass_lowers_the_peak_of_its_graph(programs: Path) -> None:
    # 1 MiB of input; eight products of 64 MiB and a sum, then one product and eight sums of 4 KiB.
    assert run(programs / "lower_peak").splitlines() == [
        "recorded order: 513.00 MiB", "new order: 65.03 MiB",
    ]
