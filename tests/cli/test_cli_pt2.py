"""Exported models on the command line, on one small enough to work out by hand.

A linear layer of 4 by 4 with a bias (64 + 16 bytes), its relu in place, split, reshaped and put
together again. Of each row there are 16 bytes of input, of the layer's result, and of the last one;
split, transpositions and reshape are views. At the last node 80 + 48 * rows are alive.
"""

import json
from pathlib import Path

import pytest
from exported_model import model, node, tensor, write_archive

MODEL = Path(__file__).resolve().parents[1] / "fuzz" / "pt2_seeds" / "small.pt2"


def peak_bytes(done):
    assert done.returncode == 0, done.stderr
    (device,) = json.loads(done.stdout)["devices"]
    return device["allocated_bytes"]


def test_sizes_are_those_of_the_capture_unless_bound(tidemark):
    assert peak_bytes(tidemark("peak", MODEL, "--json")) == 80 + 48 * 3
    assert peak_bytes(tidemark("peak", MODEL, "--json", "--bind", "batch=32")) == 80 + 48 * 32
    assert peak_bytes(tidemark("peak", MODEL, "--json", "--bind", "s77=10")) == 80 + 48 * 10


def test_the_report_names_modules_operators_and_lines(tidemark):
    done = tidemark("report", MODEL, "--bind", "batch=64")
    assert done.returncode == 0, done.stderr
    for word in ("Parameter", "Activation", "aten::cat", "m.py:6"):
        assert word in done.stdout


@pytest.mark.parametrize(
    ("bind", "message"),
    [
        ("batch=65", "does not hold for s77 = 65"),
        ("width=3", "has no dimension width"),
        ("batch", "is not NAME=NUMBER"),
        ("batch=many", "is not NAME=NUMBER"),
    ],
)
def test_a_binding_that_cannot_be_is_refused(tidemark, bind, message):
    done = tidemark("report", MODEL, "--bind", bind)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_wrong_name_is_told_the_right_ones(tidemark):
    assert "s77, captured at 3, from 2 to 64" in tidemark("report", MODEL, "--bind", "x=1").stderr


def test_a_tape_has_nothing_to_bind(tidemark, write):
    done = tidemark("report", write("tape 1\nalloc w 1KiB\n"), "--bind", "batch=3")
    assert done.returncode == 2
    assert "exported models" in done.stderr


def test_a_cut_archive_is_an_error(tidemark, write):
    done = tidemark("report", write(MODEL.read_bytes()[:500], "cut.pt2"))
    assert done.returncode == 2
    assert "zip" in done.stderr


# x of 400 bytes; cond's result of 400, whatever is inside; a result of 800 that names what is not
# there.
INNER = {"inputs": [], "nodes": [], "outputs": [], "tensor_values": {}}
COND = node("torch.ops.higher_order.cond", ["x"], ["chosen"])
COND["inputs"].append({"name": "", "arg": {"as_graph": {"name": "true_graph", "graph": INNER}}})
ODD = model(
    ["x"],
    [COND, node("torch.ops.aten.add.Tensor", ["chosen", "ghost"], ["sum"])],
    ["sum"],
    {"x": tensor(100), "chosen": tensor(100), "sum": tensor(200)},
)


def test_sub_graphs_and_unknown_names_are_told_and_the_rest_is_answered(tidemark, tmp_path):
    path = write_archive(tmp_path / "odd.pt2", ODD)
    assert peak_bytes(tidemark("peak", path, "--json")) == 400 + 400 + 800
    found = json.loads(tidemark("peak", path, "--json").stdout)["diagnostics"]
    assert {(d["code"], d["count"], d["where"]) for d in found} == {
        ("sub-graph", 1, "chosen"), ("unknown-name", 1, "sum"),
    }  # fmt: skip
    report = tidemark("report", path).stdout
    assert "higher_order::cond runs a graph of its own" in " ".join(report.split())
    assert "sum uses ghost" in " ".join(report.split())
