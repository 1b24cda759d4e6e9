"""Which calibration an estimate goes by: the one that was named, the one we ship, or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tidemark.calibration.calibration_file import read_calibration
from tidemark.calibration.pieces import Pieces
from tidemark.gpus import Gpu

NONE = "none"
SHIPPED = Path(__file__).parent / "h200.json"
RULES_OF = "NVIDIA H200"


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
    calibration = read_calibration(Path(named) if named else SHIPPED)
    if calibration.capability != f"{gpu.major}.{gpu.minor}":
        unused = f"; {named} was not used, it is of an {calibration.gpu}" if named else ""
        return Choice(note=f"{what} rules that were measured on an {RULES_OF}; {gpu.name} has other "
                           f"kernels{unused}")
    calls = [(op, signature, pieces) for (op, signature), pieces in calibration.calls.items()]
    if calibration.gpu == gpu.name:
        return Choice(calls, calibration.gpu)
    return Choice(calls, calibration.gpu, f"{what} calls that were measured on an {calibration.gpu}; "
                                          f"{gpu.name} has the same kernels")
