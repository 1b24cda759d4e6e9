"""Exported models read without torch: the same profile as the FX bridge on the same program."""

import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from models import MODELS
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, ExportedProgram

import tidemark
from tidemark import graphs

# Sizes that vary from run to run: input dimension, for models that allow it.
BATCHED = {"mlp", "attention", "experts", "convolutions", "dropout", "unet"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exported")


@pytest.fixture(scope="session")
def exported(folder: Path) -> dict[str, tuple[ExportedProgram, Path]]:
    made = {}
    for name, (make_model, make_input) in MODELS.items():
        torch.manual_seed(0)
        value = make_input()
        if name == "unet":
            value = value.expand(2, -1, -1, -1).clone()
        shapes = ({0: Dim("batch", min=2, max=64)},) if name in BATCHED else None
        program = torch.export.export(make_model().eval(), (value,), dynamic_shapes=shapes)
        path = folder / f"{name}.pt2"
        torch.export.save(program, path)
        made[name] = program, path
    return made


def levels(graph: graphs.Graph, **dimensions: int) -> list[int]:
    return graph.accounts(dimensions=dimensions).profile().tolist()


@pytest.mark.parametrize("name", list(MODELS))
def test_the_profile_equals_the_bridges(name: str, exported: dict) -> None:
    program, path = exported[name]
    found, expected = graphs.read_pt2(path), graphs.read_fx(program)
    assert [found.name(n) for n in range(found.node_count)] == [node.name for node in program.graph.nodes]
    assert levels(found) == levels(expected)
    assert max(levels(found)) > 0
    assert not list(found.diagnostics)


@pytest.mark.parametrize("name", sorted(BATCHED))
def test_one_archive_answers_for_any_batch(name: str, exported: dict) -> None:
    program, path = exported[name]
    found, expected = graphs.read_pt2(path), graphs.read_fx(program)
    assert found.dimensions == expected.dimensions
    (dimension,) = found.dimensions
    for batch in (2, 7, 64):
        assert levels(found, **{dimension: batch}) == levels(expected, **{dimension: batch})
    with pytest.raises(tidemark.Error, match="does not hold"):
        levels(found, **{dimension: 65})


def test_decomposed_programs_are_equal_too(exported: dict, folder: Path) -> None:
    for name in ("residual", "encoder", "language"):
        program = exported[name][0].run_decompositions()
        path = folder / f"{name}_decomposed.pt2"
        torch.export.save(program, path)
        assert levels(graphs.read_pt2(path)) == levels(graphs.read_fx(program))


class Choosing(torch.nn.Module):
    """A condition, a loop and a part without gradients: each becomes a graph in the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            kept = self.linear(x)
        chosen = torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos(), (kept,))
        count = torch.zeros((), dtype=torch.int64)
        return while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (count, chosen))[1]


def test_operators_with_graphs_of_their_own_are_told(folder: Path) -> None:
    program = torch.export.export(Choosing(), (torch.ones(3, 4),))
    path = folder / "choosing.pt2"
    torch.export.save(program, path)
    graph = graphs.read_pt2(path)
    (told,) = graph.diagnostics
    assert (told.code, told.count) == ("sub-graph", 3)
    # Results of those operators are counted as the bridge counts them: their inside is not.
    assert levels(graph) == levels(graphs.read_fx(program))


def test_modules_lines_and_categories_are_in_the_tape(exported: dict) -> None:
    tape = tidemark.open(exported["language"][1])
    scopes = {scope.path for scope in tape.scopes().scopes}
    assert "blocks.0.attention" in scopes and "embed" in scopes
    peak = tape.peak().devices[0]
    assert {"Parameter", "Input"} <= {category.name for category in peak.categories}
    assert any("models.py" in fact.born.source for fact in peak.largest)


def test_reading_needs_no_torch(exported: dict) -> None:
    program = (
        "import sys, tidemark; "
        f"tape = tidemark.open({str(exported['mlp'][1])!r}); "
        "assert 'torch' not in sys.modules; print(tape.peak().devices[0].allocated_bytes)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == max(levels(graphs.read_fx(exported["mlp"][0])))


def test_damaged_archives_give_errors(exported: dict, folder: Path) -> None:
    whole = exported["attention"][1].read_bytes()
    chance = random.Random(0)
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 20)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        if chance.random() < 0.3:
            damaged = damaged[: chance.randrange(len(damaged))]
        path = folder / "damaged.pt2"
        path.write_bytes(damaged)
        try:
            graphs.read_pt2(path).accounts().profile()
        except tidemark.Error:
            pass


def test_an_archive_without_a_model_is_refused(folder: Path) -> None:
    path = folder / "empty.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data", "nothing")
    with pytest.raises(tidemark.Error, match="no models/model.json"):
        graphs.read_pt2(path)
