"""Static graphs: what an FX graph does to memory, in any order, before it runs.

    >>> graph = tidemark.graphs.read_fx(module)      # a GraphModule, Graph or ExportedProgram
    >>> graph.accounts(granularity=512).peak().bytes
    >>> tidemark.graphs.read_pt2("model.pt2")        # an archive of torch.export, without torch

Nodes are numbered as in the FX graph. Unlike PyTorch's estimator a constant counts once however
often it is read, views traced in real mode alias, sparse values count by their parts, and sizes
may depend on dimensions: graph.accounts(dimensions={"s0": 32}).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tidemark._engine import (
    AliveStorage,
    Graph,
    GraphAccounts,
    GraphPeak,
    Order,
    Schedule,
    Tape,
    _open_file,
    read_pt2,
)

if TYPE_CHECKING:
    import torch.fx

__all__ = [
    "AliveStorage",
    "Graph",
    "GraphAccounts",
    "GraphPeak",
    "Order",
    "Schedule",
    "read_fx",
    "read_pt2",
]


def read_fx(
    graph: torch.fx.GraphModule | torch.fx.Graph | Any,
    *,
    text: bool = True,
    backward: torch.fx.GraphModule | torch.fx.Graph | None = None,
) -> Graph:
    """The graph in the engine. `text=False` leaves out names, modules, lines and categories.

    A forward graph of aot_autograd does not say which of its inputs are parameters; the backward
    does: they get gradients.
    """
    import torch  # noqa: F401  (its libraries must be there before _graph)

    from tidemark.torch_match import check_torch, load_extension

    check_torch()
    load_extension("_graph")
    from tidemark import _graph

    graph = _plain(graph)
    trained = _trained_by(graph) | (_trained_by(_plain(backward)) if backward else set())
    return _graph.read(list(graph.nodes), mended=True, text=text, trained=trained).graph


def _plain(graph: Any) -> Any:
    return graph if hasattr(graph, "nodes") else graph.graph


def _trained_by(graph: torch.fx.Graph) -> set[str]:
    """Descriptions of the inputs that this graph returns gradients of."""
    last = next(iter(reversed(graph.nodes)), None)
    described = last.meta.get("desc") if last is not None and last.op == "output" else None
    return {str(one.grad_of) for one in described or () if hasattr(one, "grad_of")}


def open_any(
    source: str | os.PathLike[str] | Any,
    *,
    execution_trace: str | os.PathLike[str] | None = None,
    salvage: bool = False,
) -> Tape:
    """tidemark.open: the tape of a file, or of a graph that is not yet run.

    A trace of PyTorch's profiler knows its tensors by an `execution_trace` of the same run; with
    `salvage` a damaged one is read up to the damage.
    """
    if isinstance(source, str | os.PathLike):
        return _open_file(source, execution_trace=execution_trace, salvage=salvage)
    if isinstance(source, Graph):
        return source.accounts().tape()
    if hasattr(source, "graph") or hasattr(source, "nodes"):
        return read_fx(source).accounts().tape()
    raise TypeError(f"neither a path nor a graph: {type(source).__name__}")
