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
    capability = f"{gpu.major}.{gpu.minor}"
    calibration = read_calibration(Path(named) if named else SHIPPED)
    notes = []
    if named and calibration.capability != capability:
        notes.append(f"{named} was not used: the kernels of its {calibration.gpu} are others")
        calibration = read_calibration(SHIPPED)
    other = f"that were measured on another GPU, {calibration.gpu}; {gpu.name} has"
    if calibration.capability != capability:
        return Choice(note="; ".join([f"{what} rules {other} other kernels", *notes]))
    if calibration.gpu != gpu.name:
        notes.insert(0, f"{what} calls {other} the same kernels")
    calls = [(op, signature, pieces) for (op, signature), pieces in calibration.calls.items()]
    return Choice(calls, calibration.gpu, "; ".join(notes))
