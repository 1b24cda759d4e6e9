"""A torch.compile backend that reorders each graph to lower its peak, before anything runs.

    python examples/compile_with_low_peak.py

Prints the peak of every captured graph in the recorded and in the new order. Needs no GPU.
"""

import torch
import torch.fx as fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func

from tidemark import graphs


def lower_peak(order: graphs.Order) -> None:
    """Moves each node towards its first user or its last input, as long as that lowers the peak."""
    nodes, has_changed = order.nodes.tolist(), True
    while has_changed:
        has_changed = False
        for node in nodes:
            user, source = order.first_user(node), order.last_input(node)
            has_changed |= user is not None and helps(order, node, user, order.move_before)
            has_changed |= source is not None and helps(order, node, source, order.move_after)


def helps(order: graphs.Order, node: int, place: int, move) -> bool:
    """Makes the move; takes it back unless the peak fell."""
    before, positions = order.peak, order.nodes.tolist()
    at = positions.index(node)
    move(node, place)
    if order.peak < before:
        return True
    if at + 1 < len(positions):
        order.move_before(node, positions[at + 1])
    else:
        order.move_after(node, positions[at - 1])
    return False


def is_functional(graph: fx.Graph) -> bool:
    """Whether no node writes into another's value: then edges are all that an order must keep."""
    return not any(getattr(getattr(node.target, "_schema", None), "is_mutable", False) for node in graph.nodes)


def reorder(module: fx.GraphModule, inputs: object):
    graph = module.graph
    accounts = graphs.read_fx(module, text=False).accounts(free_unused=True)
    order = accounts.order()
    before = order.peak
    if is_functional(graph):
        lower_peak(order)
        nodes = list(graph.nodes)
        for number in order.nodes:
            graph.output_node().prepend(nodes[number])
        graph.lint()
        module.recompile()
    print(f"{len(graph.nodes)} nodes: peak {before:,} bytes, reordered {order.peak:,} bytes")
    return make_boxed_func(module.forward)


class Branches(torch.nn.Module):
    """Scores of several heads; all large products come first, as people write it."""

    def __init__(self, heads: int = 6) -> None:
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(64, 512) for _ in range(heads))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        products = [head(x) for head in self.heads]
        return torch.stack([product.logsumexp(-1).mean() for product in products])


def main() -> None:
    torch.manual_seed(0)
    model, x = Branches(), torch.randn(128, 64)
    compiled = torch.compile(model, backend=aot_autograd(fw_compiler=reorder, bw_compiler=reorder))
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x))
    compiled(x).sum().backward()
    found = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    torch.testing.assert_close(found, [parameter.grad for parameter in model.parameters()])
    print("results and gradients are the same")


if __name__ == "__main__":
    main()
