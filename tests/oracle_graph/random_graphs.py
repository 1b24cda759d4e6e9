"""Random FX graphs: tuples, dicts, views, in-place results, constants, devices, symbolic sizes."""

import operator

import torch
import torch.fx as fx
from hypothesis import strategies as st
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

DEVICES = ("cpu", "meta", "cuda")
KINDS = ("fresh", "fresh", "view", "in_place", "tuple", "getitem", "dict", "nothing", "number", "shared")


class Writer:
    """Adds one random node after the other; what a node returns is its meta['val']."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.graph = fx.Graph()
        self.mode = FakeTensorMode(shape_env=ShapeEnv())
        self.symbolic = self.mode.from_tensor(torch.empty(6, 4))
        self.nodes: list[fx.Node] = []
        self.tensors: list[torch.Tensor] = []

    def fresh(self) -> torch.Tensor:
        device = self.draw(st.sampled_from(DEVICES))
        with self.mode:
            if self.draw(st.integers(0, 4)) == 0:
                tensor = torch.empty(self.symbolic.shape[0], 3, device=device)
            else:
                tensor = torch.empty(self.draw(st.integers(0, 9)), 8, device=device)
        self.tensors.append(tensor)
        return tensor

    def any_tensor(self) -> torch.Tensor:
        return self.draw(st.sampled_from(self.tensors)) if self.tensors else self.fresh()

    def view(self, tensor: torch.Tensor) -> torch.Tensor:
        with self.mode:
            viewed = tensor.view(-1) if tensor.is_contiguous() else tensor.t()
        self.tensors.append(viewed)
        return viewed

    def inputs(self) -> tuple[fx.Node, ...]:
        if not self.nodes:
            return ()
        return tuple(self.draw(st.lists(st.sampled_from(self.nodes[-6:]), max_size=3)))

    def value(self, kind: str) -> object:
        if kind in ("fresh", "getitem"):
            return self.fresh()
        if kind in ("view", "shared"):
            return self.view(self.any_tensor())
        if kind == "in_place":
            return self.any_tensor()
        if kind == "tuple":
            return self.fresh(), [self.any_tensor(), None], self.fresh()
        if kind == "dict":
            return {"b": self.fresh(), "a": (self.any_tensor(), 3)}
        return {"nothing": None, "number": 7}[kind]

    def add_source(self) -> None:
        is_constant = self.draw(st.booleans())
        name = self.draw(st.sampled_from(["primals_1", "tangents_1", "x"]))
        make = self.graph.get_attr if is_constant else self.graph.placeholder
        self.add(make(name), self.draw(st.sampled_from(["fresh", "fresh", "view"])))

    def add_computed(self) -> None:
        kind = self.draw(st.sampled_from(KINDS))
        arguments = self.inputs()
        if kind == "getitem":
            for source in reversed(self.nodes):
                if isinstance(source.meta.get("val"), tuple):
                    node = self.graph.call_function(operator.getitem, (source, 0))
                    node.meta["val"] = source.meta["val"][0]
                    self.nodes.append(node)
                    return
        self.add(self.graph.call_function(torch.ops.aten.add.Tensor, arguments), kind)

    def add(self, node: fx.Node, kind: str) -> None:
        value = self.value(kind)
        if value is not None or self.draw(st.booleans()):
            node.meta["val"] = value
        self.nodes.append(node)

    def finish(self) -> fx.Graph:
        self.graph.output(self.inputs())
        return self.graph


@st.composite
def graphs(draw: st.DrawFn) -> fx.Graph:
    writer = Writer(draw)
    for _ in range(draw(st.integers(0, 3))):
        writer.add_source()
    for _ in range(draw(st.integers(0, 12))):
        if draw(st.integers(0, 9)) == 0:
            writer.add_source()
        else:
            writer.add_computed()
    return writer.finish()
