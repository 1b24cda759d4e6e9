"""The file of a calibration: which machine was measured, and what each call took there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tidemark.calibration.pieces import Pieces, brief, pieces_of, text_of

FORMAT = "tidemark calibration"
VERSION = 2
READABLE = (1, 2)  # in the first, calls have one amount, the highest, and no order


class BadCalibration(RuntimeError):
    """The file is none, or damaged."""


@dataclass
class Calibration:
    gpu: str
    capability: str  # "9.0"
    driver: str
    torch: str
    cudnn: int
    # What a call takes beyond its results, in requested bytes, by operator and signature.
    calls: dict[tuple[str, str], Pieces] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """One call a line, in order, so that two files can be compared."""
        head = {key: value for key, value in asdict(self).items() if key != "calls"}
        lines = [json.dumps([op, signature, text_of(pieces)])
                 for (op, signature), pieces in sorted(self.calls.items())]
        body = json.dumps({"format": FORMAT, "version": VERSION, **head}, indent=1)[:-2]
        path.write_text(body + ',\n "calls": [\n' + ",\n".join(lines) + "\n ]\n}\n")


def read_calibration(path: Path) -> Calibration:
    """Raises BadCalibration with a sentence, or OSError."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadCalibration(f"{path}: not JSON: {error}") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise BadCalibration(f"{path}: no calibration; `tidemark calibrate` writes them")
    if facts.get("version") not in READABLE:
        raise BadCalibration(f"{path}: version {facts.get('version')!r}, and {VERSION} is the last one known")
    try:
        return Calibration(_text(facts, "gpu"), _text(facts, "capability"), _text(facts, "driver"),
                           _text(facts, "torch"), _count(facts["cudnn"]),
                           _calls(facts["calls"], facts["version"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadCalibration(f"{path}: damaged: {error!r}") from error


def _text(facts: dict[str, Any], key: str) -> str:
    if not isinstance(facts[key], str):
        raise TypeError(f"{key} is no text")
    return str(facts[key])


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise TypeError(f"{value!r} is no count")
    return value


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no order of pieces")
    return value


def _calls(rows: Any, version: int) -> dict[tuple[str, str], Pieces]:
    calls = {}
    for op, signature, taken in rows:
        if not isinstance(op, str) or not isinstance(signature, str):
            raise TypeError("a call has no name")
        calls[op, signature] = brief(_count(taken)) if version == 1 else pieces_of(_words(taken))
    return calls
