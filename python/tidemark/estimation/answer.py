"""What an estimate tells: the facts of its JSON report as attributes, and its text."""

from __future__ import annotations

from typing import Any

from tidemark.estimation.report import text_report


class EstimateError(RuntimeError):
    """The function could not be run, or raised; `facts` is what was known up to then."""

    def __init__(self, message: str, facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}


class Estimate:
    """The answer of tidemark.estimate; prints as the command's report.

    `facts` is the whole JSON report, as documented for `tidemark estimate --json`.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts

    @property
    def fits(self) -> bool:
        """Whether the peak of every device is within the GPU's memory."""
        return bool(self.facts["fits"])

    @property
    def peak_bytes(self) -> int:
        """The highest peak among the devices, as `max_memory_allocated` counts it."""
        return max((device["peak_allocated_bytes"] for device in self.devices), default=0)

    @property
    def devices(self) -> list[dict[str, Any]]:
        return list(self.facts["devices"])

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """What was approximated."""
        return list(self.facts["diagnostics"])

    def __str__(self) -> str:
        return text_report(self.facts)

    def __repr__(self) -> str:
        words = "fits" if self.fits else "does not fit"
        return f"<Estimate: {words} on {self.facts['gpu']['name']}, peak {self.peak_bytes} bytes>"
