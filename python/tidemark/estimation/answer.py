"""What an estimate tells: the facts of its JSON report as attributes, and its text."""

from __future__ import annotations

import copy
import html
import json
from typing import Any

from tidemark.estimation.report import text_report

NOTEBOOK_COLUMNS = 100


class EstimateError(RuntimeError):
    """The function could not be run, or raised; `facts` is what was known up to then."""

    def __init__(self, message: str, facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return EstimateError, (str(self), self.facts)


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

    def to_json(self) -> str:
        """The JSON report, as text."""
        return json.dumps(self.facts, indent=2)

    def to_dict(self) -> dict[str, Any]:
        """The JSON report, as dictionaries and lists of the caller's own."""
        return copy.deepcopy(self.facts)

    def __str__(self) -> str:
        return text_report(self.facts)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        text = html.escape(text_report(self.facts, NOTEBOOK_COLUMNS), quote=False)
        return f'<pre class="tidemark" style="line-height: 1.25; overflow-x: auto">{text}</pre>'

    def _repr_markdown_(self) -> str:
        """What a notebook keeps for readers without HTML."""
        return f"```text\n{text_report(self.facts, NOTEBOOK_COLUMNS)}```\n"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Estimate) and self.facts == other.facts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        words = "fits" if self.fits else "does not fit"
        return f"<Estimate: {words} on {self.facts['gpu']['name']}, peak {self.peak_bytes} bytes>"
