"""Everything that trainers do with torch.distributed runs as a rank of many, whichever it is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent / "distributed_program.py"


def names_tried() -> list[str]:
    """Read from the text: the program needs a launcher's variables."""
    for statement in ast.parse(PROGRAM.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "TRIED":
            return [ast.unparse(name) for name in statement.value.elts]  # type: ignore[attr-defined]
    raise AssertionError("no list of what is tried")


@pytest.mark.parametrize("rank", [0, 5])
def test_a_rank_of_eight_does_it_all(rank: int, estimate: Callable[..., Any]) -> None:
    done = estimate("--quiet", "--world-size", 8, "--rank", rank, "--steps", 0, PROGRAM)
    assert done.exit_code == 0, done.script_output
    went_well = [line.split(": ")[1] for line in done.script_output.splitlines()
                 if line.startswith("went well: ")]
    assert went_well == names_tried(), done.script_output
