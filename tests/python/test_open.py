"""tidemark.open takes what the command takes, and says of other files what they are."""

import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from exported_model import model, node, tensor, write_archive

import tidemark
from tidemark import graphs


def refusal(path: Path) -> tidemark.Error:
    with pytest.raises(tidemark.Error) as caught:
        tidemark.open(path)
    return caught.value


def test_a_tape_of_either_form_is_opened(tiny: tidemark.Tape, tmp_path: Path) -> None:
    tiny.save(tmp_path / "run.tape")
    (tmp_path / "run.txt").write_text(tiny.to_text())
    for name in ("run.tape", "run.txt"):
        assert tidemark.open(tmp_path / name).to_text() == tiny.to_text()


@pytest.mark.parametrize(
    ("name", "content", "kind", "hint"),
    [
        ("train.py", b"import torch\n", "a Python script", "tidemark estimate"),
        ("s.pickle", pickle.dumps({"segments": []}), "a PyTorch memory snapshot", "tidemark record"),
        ("notes.txt", b"buy milk\n", "text, but not a tape", "tape 1"),
    ],
)
def test_a_file_of_another_kind_is_named(
    tmp_path: Path, name: str, content: bytes, kind: str, hint: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    error = refusal(path)
    assert (error.code, error.where) == ("unsupported", str(path))
    assert error.message == f"this is {kind}" and hint in error.hint


def odd_model(path: Path) -> Path:
    """One of everything that is not understood; what is, is counted.

    x has 10 elements of 4 bytes, y 10 of an unknown type, z a size of an unknown form that was 5 at
    the capture, and w no sizes at all.
    """
    size = tensor("Sinus(s0)")
    size["sizes"][0]["as_expr"]["hint"] = {"as_int": 5}
    sparse = tensor(7)
    sparse["strides"] = []
    nodes = [
        node("torch.ops.mine.twist.default", ["x"], ["y"]),
        node("torch.ops.aten.neg.default", ["y"], ["z"]),
        node("torch.ops.aten.neg.default", ["z"], ["w"]),
        node("torch.ops.aten.to_sparse.default", ["z"], ["v"]),
    ]
    tensors = {"x": tensor(10), "y": tensor(10, dtype=99), "z": size, "v": sparse}
    return write_archive(path, model(["x"], nodes, ["y", "z", "w", "v"], tensors))


def test_what_is_not_understood_in_a_model_is_a_diagnostic(tmp_path: Path) -> None:
    path = odd_model(tmp_path / "odd.pt2")
    graph = graphs.read_pt2(path)
    assert {(d.code, d.count, d.where) for d in graph.diagnostics} == {
        ("unknown-operator", 1, "y"),
        ("unknown-element-type", 1, "y"),
        ("unknown-size", 1, "z"),
        ("tensor-without-size", 1, "w"),
        ("tensor-without-strides", 1, "v"),
    }
    assert graph.accounts().peak().bytes == 10 * 4 + 10 * 1 + 5 * 4
    assert list(tidemark.open(path).diagnostics) == list(graph.diagnostics)


def test_of_several_models_the_first_is_shown_and_the_others_are_told(tmp_path: Path) -> None:
    path = tmp_path / "two.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        for name, elements in (("encoder", 1), ("decoder", 100)):
            content = model(["x"], [], ["x"], {"x": tensor(elements)})
            archive.writestr(f"two/models/{name}.json", json.dumps(content))
    graph = graphs.read_pt2(path)
    assert graph.accounts().peak().bytes == 4
    (told,) = graph.diagnostics
    assert (told.code, told.where) == ("another-model", "two/models/decoder.json")


def test_an_error_inside_an_archive_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "none.pt2"
    write_archive(path, {"graph_module": 3})
    assert refusal(path).where == f"{path}: model.json"
    with pytest.raises(tidemark.Error) as caught:
        graphs.read_pt2(path)
    assert caught.value.where == f"{path}: model.json"


def test_opening_a_model_costs_no_memory_for_its_weights(tmp_path: Path) -> None:
    """64 MiB of weights, in an address space that has room for half of that."""
    path = odd_model(tmp_path / "heavy.pt2")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("heavy/data/weights/weight_0", bytes(64 << 20))
    program = f"""
import resource, tidemark
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (32 << 20),) * 2)
print(tidemark.open({str(path)!r}).peak().devices[0].allocated_bytes)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 10 * 4 + 10 * 1 + 5 * 4
