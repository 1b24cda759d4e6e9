"""A program that uses the whole API with types; mypy --strict reads it, nobody runs it."""

from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import tidemark


def build() -> tidemark.Tape:
    builder = tidemark.TapeBuilder()
    peak = tidemark.PeakAccumulator(builder, top=3)
    weight = builder.alloc("cuda:0", 4096, "Parameter", scope="layers.0", source=("train.py", 3))
    with builder.region("warm-up"):
        builder.relabel(weight, tidemark.Category.Buffer, op="aten::mm", stream=1)
    builder.set_phase(tidemark.Phase.Forward)
    builder.mark("here", source=[("main.py", 1, "main"), ("model.py", 2, "forward")])
    assert_type(weight, int)
    assert_type(peak.answer(), tidemark.PeakAnswer)
    return builder.finish()


def read(path: Path) -> list[str]:
    tape = tidemark.open(path)
    assert_type(tape.columns.bytes, NDArray[np.int64])
    assert_type(tape[0].stream, int | None)
    assert_type([event.kind for event in tape], list[tidemark.Kind])
    tape.save("copy.tape", compressed=False)
    return [problem.message for problem in tape.verify()]


def analyse(tape: tidemark.Tape) -> int:
    for device in tape.peak(top=5, device="cuda:0", step=1).devices:
        assert_type(device.categories, dict[tidemark.Category, int])
        assert_type(device.largest[0].born.source, str)
    scopes = tape.scopes(depth=2, per_call=True)
    timeline = tape.timeline(columns=80, by="time")
    lives = tidemark.find_lifetimes(tape, top=1)
    assert_type(lives.heaviest[0].died, tidemark.When | None)
    print(scopes, timeline, tape.leaks(), tape.diff(tape), tape.report().to_text(width=80))
    return sum(scope.parameter_bytes for scope in scopes.scopes)


def explain(path: str) -> str:
    try:
        return tidemark.open(path).peak().to_json()
    except tidemark.Error as error:
        return f"{error.code}: {error.message} at {error.where} ({error.hint})"
