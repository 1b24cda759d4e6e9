"""Static graphs: what an FX graph does to memory, in any order, before it runs.

    >>> graph = tidemark.graphs.read_fx(module)      # a GraphModule, Graph or ExportedProgram
    >>> graph.accounts(granularity=512).peak().bytes

Nodes are numbered as in the FX graph. Unlike PyTorch's estimator a constant counts once however
often it is read, views traced in real mode alias, sparse values count by their parts, and sizes
may depend on dimensions: graph.accounts(dimensions={"s0": 32}).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark._engine import AliveStorage, Graph, GraphAccounts, GraphPeak, Order, Schedule

if TYPE_CHECKING:
    import torch.fx

__all__ = ["AliveStorage", "Graph", "GraphAccounts", "GraphPeak", "Order", "Schedule", "read_fx"]


def read_fx(graph: torch.fx.GraphModule | torch.fx.Graph | Any, *, text: bool = True) -> Graph:
    """The graph in the engine. `text=False` leaves out names, modules, lines and categories."""
    import torch  # noqa: F401  (its libraries must be there before _graph)

    from tidemark import _graph

    if not hasattr(graph, "nodes"):
        graph = graph.graph
    return _graph.read(list(graph.nodes), mended=True, text=text).graph
