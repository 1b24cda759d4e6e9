"""Tidemark tells people who train neural networks with PyTorch where their memory goes.

    >>> import tidemark
    >>> tape = tidemark.read_text("tape 1\\nalloc weight 4KiB Parameter\\n")
    >>> tape.peak().devices[0].allocated_bytes
    4096

A tape comes from tidemark.open (a file, an exported model or an FX graph), tidemark.read_text
(text) or a TapeBuilder (event by event). Each analysis is a method of the tape and a function:
tape.peak() is find_peak(tape). Answers print as tables, show themselves in notebooks, and become
JSON. tidemark.track follows a live program and gives the tape of it; tidemark.profile makes one of
what torch.profiler records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Whatever the engine binds is the package's own: its stub is the one list of names.
from tidemark import _engine
from tidemark import graphs as _graphs
from tidemark._engine import *  # noqa: F403
from tidemark._engine import __version__ as __version__
from tidemark.estimation.answer import Estimate as Estimate
from tidemark.estimation.answer import EstimateError as EstimateError
from tidemark.estimation.function import estimate as estimate

open = _graphs.open_any

if TYPE_CHECKING:
    from tidemark.profiling import Profiling
    from tidemark.recording.tracking import Tracking


def profile(*external: Any, save: str = "") -> Profiling:
    """Runs torch.profiler over the program inside a `with`, and finds from the data flow what every
    tensor was: no hooks, and nothing needs to be named.

    Give it models and optimizers whose parameters are no plain tensors (DTensors of FSDP2), or that
    the block does not use. `save` keeps the tape in a file.

        with tidemark.profile() as profiling:
            train_one_step()
        print(profiling.report())
    """
    from tidemark.profiling import Profiling

    return Profiling(*external, save=save)


def track(
    *external: Any, save: str = "", oom: str = "report", operators: bool = False,
    source: bool = False,
) -> Tracking:
    """Follows the program inside a `with`: modules, phases and categories of every storage.

    Give it what exists already: models, optimizers, inputs. `save` keeps the tape in a file; with
    oom="report" an out-of-memory error is explained on standard error. operators=True tells what
    lives only inside operators (Workspace) from their results. source=True does that too, and says
    which line of source and which operator makes each storage, of which type and shape.

        with tidemark.track(model, optimizer, batch) as tracking:
            train_one_step()
        print(tracking.tape.peak())
    """
    from tidemark.recording.tracking import Tracking

    return Tracking(*external, save=save, oom=oom, operators=operators, source=source)


# Type checkers read the imports above; they cannot follow a list that is computed.
if not TYPE_CHECKING:
    _bound = {name for name in dir(_engine) if not name.startswith("_")}
    _own = {"Estimate", "EstimateError", "__version__", "estimate", "open", "profile", "track"}
    __all__ = sorted(_bound - set(_graphs.__all__) | _own)
