"""What an estimate tells: a tape with a verdict."""

from __future__ import annotations

from typing import Any

from tidemark._engine import Overview, Tape, read_bytes


class EstimateError(RuntimeError):
    """The function could not be run, or raised; `facts` is what was known up to then."""

    def __init__(self, message: str, facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return EstimateError, (str(self), self.facts)


class Estimate:
    """The answer of tidemark.estimate; prints as the command's report.

    `tape` is the whole run, for every other question; `report` its first look.
    """

    def __init__(self, data: bytes, top: int = 10) -> None:
        self._data, self._top = data, top
        self.tape: Tape = read_bytes(data, "estimate")
        self.report: Overview = self.tape.report(top=top)

    @property
    def verdict(self) -> str:
        """fits, tight, does not fit, or cannot tell."""
        found = self.report.verdict
        return found.verdict if found else "cannot tell"

    @property
    def fits(self) -> bool | None:
        """Whether the tensors fit the GPU; None where nobody can tell."""
        found = self.report.verdict
        return found.fits if found else None

    @property
    def peak_bytes(self) -> int:
        """The highest peak among the devices, as `max_memory_allocated` counts it."""
        return max((device.allocated_bytes for device in self.report.peak.devices), default=0)

    @property
    def budget_bytes(self) -> int:
        """What nvidia-smi will show: tensors, workspaces, context, slack of the allocator."""
        found = self.report.verdict
        return found.budget_bytes if found else 0

    @property
    def facts(self) -> dict[str, Any]:
        """The whole JSON report, as `tidemark estimate --json` prints it."""
        return self.to_dict()

    def to_text(self, **style: Any) -> str:
        """The report, with the words of an answer's to_text: width, colour, units, detail."""
        return self.report.to_text(**style)

    def to_json(self) -> str:
        return self.report.to_json()

    def to_dict(self) -> dict[str, Any]:
        return self.report.to_dict()

    def __str__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Estimate) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        return Estimate, (self._data, self._top)

    def __repr__(self) -> str:
        return f"<Estimate: {self.verdict}, peak {self.peak_bytes} bytes>"
