"""Sharded scripts under `estimate` and under `record`: the same storages, for the same purposes.

Where modules begin and end, too, but for the borders at which FSDP works: a live tracker hears of a
module's end before FSDP frees its parameters, and of its backward before FSDP gathers them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from sharded_scripts import HEAD as SHARDED_HEAD
from sharded_scripts import SCRIPTS
from test_both_ways import HEAD, Border, Row, rows_at_borders, steps_of, tape_of

import tidemark

OF_SHARDS = {"ShardedParameter", "UnshardedParameter", "ShardedGradient", "UnshardedGradient",
             "AllGather", "ReduceScatter", "Communication"}
# Of the CPU alone: the ranks of meshes, the random state that a checkpoint saves, and what a reducer of
# gradients notes.
OF_THE_CPU = {16, 32, 5056, 4, 60}
# Where shards are padded, the CPU's kernel takes memory for it, which is to be told from results.
PADDED = {"sharded unevenly", "sharded, made on meta"}


def events_of(tape: tidemark.Tape) -> list[tidemark.Event]:
    return [tape.events[i] for i in range(len(tape))]


def lives_of(tape: tidemark.Tape) -> Counter[tuple[object, ...]]:
    """Of every storage that FSDP made or was given: bytes, and what it was, one after the other."""
    lives: dict[int, list[object]] = {}
    done: list[tuple[object, ...]] = []
    for event in events_of(tape):
        kind = event.kind.name
        if kind == "Alloc":
            lives[event.storage] = [event.bytes]
        if kind in ("Alloc", "Relabel") and event.category.name in OF_SHARDS:
            if event.category.name != lives[event.storage][-1]:  # else only its owner is another
                lives[event.storage].append(event.category.name)
        if kind == "Free":
            done.append(tuple(lives.pop(event.storage)))
    done += [tuple(life) for life in lives.values()]
    return Counter(life for life in done if len(life) > 1 and life[0] not in OF_THE_CPU)


def highest_of(tape: tidemark.Tape) -> Row:
    """The most that there ever was of each category at once."""
    alive: dict[int, tuple[str, int]] = {}
    now: Counter[str] = Counter()
    highest: Counter[str] = Counter()
    for event in events_of(tape):
        kind = event.kind.name
        if event.bytes in OF_THE_CPU and kind == "Alloc" or kind != "Alloc" and event.storage not in alive:
            continue
        if kind in ("Free", "Relabel"):
            category, size = alive.pop(event.storage)
            now[category] -= size
        if kind in ("Alloc", "Relabel"):
            category = event.category.name
            size = event.bytes if kind == "Alloc" else size
            alive[event.storage] = category, size
            now[category] += size
            highest[category] = max(highest[category], now[category])
    return {category: highest[category] for category in OF_SHARDS if highest[category]}


def is_between(border: Border) -> bool:
    """Whether FSDP does nothing there."""
    begins, module, phase = border[0] == "ScopeBegin", border[1], border[2]
    is_inner = re.search(r"\.(wide|narrow)$", module) is not None
    if phase == "Backward":
        return begins and module.endswith("wide") or not begins and module.endswith("narrow")
    return begins or is_inner


def compared(rows: dict[Border, Row]) -> dict[Border, Row]:
    return {border: row for border, row in rows.items() if is_between(border)}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_sharded_script_means_the_same_both_ways(name: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(HEAD + SHARDED_HEAD + SCRIPTS[name])
    options = ["--operators"] if name in PADDED else []
    estimated, recorded = tape_of("estimate", script), tape_of("record", script, *options)
    assert steps_of(estimated) == steps_of(recorded)
    lives = lives_of(estimated)
    assert lives == lives_of(recorded)
    assert highest_of(estimated) == highest_of(recorded)
    found = compared(rows_at_borders(estimated, OF_THE_CPU))
    assert found == compared(rows_at_borders(recorded, OF_THE_CPU))
    if name.startswith("sharded"):
        assert {category for life in lives for category in life[1:]} >= OF_SHARDS - {"Communication"}
        assert "Parameter" not in {category for row in found.values() for category in row}
