"""Tidemark tells people who train neural networks with PyTorch where their memory goes.

    >>> import tidemark
    >>> tape = tidemark.read_text("tape 1\\nalloc weight 4KiB Parameter\\n")
    >>> tape.peak().devices[0].allocated_bytes
    4096

A tape comes from tidemark.open (a file, an exported model or an FX graph), tidemark.read_text
(text) or a TapeBuilder (event by event). Each analysis is a method of the tape and a function:
tape.peak() is find_peak(tape). Answers print as tables, show themselves in notebooks, and become
JSON. tidemark.track follows a live program and gives the tape of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark._engine import (
    CUDA_GRANULARITY,
    BudgetItem,
    Category,
    Device,
    DeviceDiff,
    DevicePeak,
    DeviceTimeline,
    Diagnostic,
    Diagnostics,
    DiffAnswer,
    Difference,
    Error,
    Event,
    EventColumns,
    GpuFacts,
    Kind,
    LeaksAccumulator,
    LeaksAnswer,
    LeakSite,
    LifeSpan,
    Lifetime,
    LifetimeGroup,
    LifetimesAccumulator,
    LifetimesAnswer,
    LineShare,
    OutOfMemory,
    Overview,
    PeakAccumulator,
    PeakAnswer,
    Phase,
    Region,
    RunFacts,
    ScopeBytes,
    ScopeCalls,
    ScopeFacts,
    ScopesAccumulator,
    ScopesAnswer,
    ScopeShare,
    Severity,
    SiteShare,
    StepLevel,
    StorageFact,
    Tables,
    Tape,
    TapeBuilder,
    TimelineAccumulator,
    TimelineAnswer,
    TimelineAxis,
    TimelinePoint,
    VerdictAnswer,
    VerdictsAnswer,
    When,
    __version__,
    can_compress,
    find_diff,
    find_leaks,
    find_lifetimes,
    find_overview,
    find_peak,
    find_scopes,
    find_timeline,
    find_verdict,
    format_bytes,
    read_bytes,
    read_text,
    verify,
)
from tidemark.estimation.answer import Estimate, EstimateError
from tidemark.estimation.function import estimate
from tidemark.graphs import open_any as open

__all__ = [
    "CUDA_GRANULARITY",
    "BudgetItem",
    "Category",
    "Device",
    "DeviceDiff",
    "DevicePeak",
    "DeviceTimeline",
    "Diagnostic",
    "Diagnostics",
    "DiffAnswer",
    "Difference",
    "Error",
    "Estimate",
    "EstimateError",
    "Event",
    "EventColumns",
    "GpuFacts",
    "Kind",
    "LeakSite",
    "LeaksAccumulator",
    "LeaksAnswer",
    "LifeSpan",
    "Lifetime",
    "LifetimeGroup",
    "LifetimesAccumulator",
    "LifetimesAnswer",
    "LineShare",
    "OutOfMemory",
    "Overview",
    "PeakAccumulator",
    "PeakAnswer",
    "Phase",
    "Region",
    "RunFacts",
    "ScopeBytes",
    "ScopeCalls",
    "ScopeFacts",
    "ScopeShare",
    "ScopesAccumulator",
    "ScopesAnswer",
    "Severity",
    "SiteShare",
    "StepLevel",
    "StorageFact",
    "Tables",
    "Tape",
    "TapeBuilder",
    "TimelineAccumulator",
    "TimelineAnswer",
    "TimelineAxis",
    "TimelinePoint",
    "VerdictAnswer",
    "VerdictsAnswer",
    "When",
    "__version__",
    "can_compress",
    "estimate",
    "find_diff",
    "find_leaks",
    "find_lifetimes",
    "find_overview",
    "find_peak",
    "find_scopes",
    "find_timeline",
    "find_verdict",
    "format_bytes",
    "open",
    "read_bytes",
    "read_text",
    "track",
    "verify",
]

if TYPE_CHECKING:
    from tidemark.recording.tracking import Tracking


def track(
    *external: Any, save: str = "", oom: str = "report", operators: bool = False
) -> Tracking:
    """Follows the program inside a `with`: modules, phases and categories of every storage.

    Give it what exists already: models, optimizers, inputs. `save` keeps the tape in a file; with
    oom="report" an out-of-memory error is explained on standard error. operators=True tells what
    lives only inside operators (Workspace) from their results.

        with tidemark.track(model, optimizer, batch) as tracking:
            train_one_step()
        print(tracking.tape.peak())
    """
    from tidemark.recording.tracking import Tracking

    return Tracking(*external, save=save, oom=oom, operators=operators)

