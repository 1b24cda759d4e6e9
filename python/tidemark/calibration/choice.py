"""Which calibration an estimate goes by: the one that was named, the one we ship, or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tidemark.calibration.calibration_file import read_calibration
from tidemark.calibration.pieces import Pieces
from tidemark.gpus import Gpu

NONE = "none"
SHIPPED = Path(__file__).parent / "h200.json"


@dataclass(frozen=True)
class Choice:
    calls: list[tuple[str, str, Pieces]] = field(default_factory=list)
    gpu: str = ""  # where they were measured
    note: str = ""  # what the report says of it; empty where there is nothing to say


def choose_calibration(named: str, gpu: Gpu) -> Choice:
    """Raises BadCalibration, or OSError, for a file that was named and cannot be used.

    GPUs of one compute capability have the same kernels; where none of it was measured, rules are all
    there is.
    """
    what = "what operators take inside goes by"
    if named == NONE:
        return Choice(note=f"{what} rules alone (--calibration none)")
    shipped = read_calibration(SHIPPED)
    first = read_calibration(Path(named)) if named else shipped
    fitting = [one for one in (first, shipped) if one.capability == f"{gpu.major}.{gpu.minor}"]
    notes = []
    if not fitting:
        notes.append(f"{what} rules that were measured on another GPU, {shipped.gpu}; {gpu.name} has other kernels")
    elif fitting[0].gpu != gpu.name:
        notes.append(f"{what} calls that were measured on another GPU, {fitting[0].gpu}; {gpu.name} has the same "
                     "kernels")
    if first not in fitting and named:
        notes.append(f"{named} was not used: the kernels of its {first.gpu} are others")
    if not fitting:
        return Choice(note="; ".join(notes))
    calls = [(op, signature, pieces) for (op, signature), pieces in fitting[0].calls.items()]
    return Choice(calls, fitting[0].gpu, "; ".join(notes))
