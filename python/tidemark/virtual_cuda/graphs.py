"""CUDA graphs: what is captured runs once, as it stands, in the memory of the graph's private pool; a
replay allocates nothing and does nothing."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches
from tidemark.virtual_cuda.pools import (
    Pool,
    PoolUser,
    new_graph_pool,
    new_user_pool,
    patch_pools,
)

# Seed and offset lie on the GPU while there is a graph; later versions make them where a graph has
# random numbers.
_torch_version: Any = torch.__version__  # a text to torch's types, which no pair is compared with
KEEPS_GENERATOR_STATE: bool = _torch_version < (2, 12)

_open_captures: list["CUDAGraph"] = []


def is_capturing() -> bool:
    return bool(_open_captures)


class GeneratorState:
    """The two numbers of a GPU's generator, kept while there is a graph."""

    def __init__(self) -> None:
        self._graphs = 0
        self._numbers: list[torch.Tensor] = []

    def add_graph(self) -> None:
        self._graphs += 1
        if not KEEPS_GENERATOR_STATE or self._numbers:
            return
        purpose = library().set_purpose("Other")
        self._numbers = [torch.empty(1, dtype=torch.int64, device="cuda") for _ in range(2)]
        library().set_purpose(purpose)

    def remove_graph(self) -> None:
        self._graphs -= 1
        if not self._graphs:
            self._numbers.clear()


_generators: dict[int, GeneratorState] = {}


class CUDAGraph:
    """torch.cuda.CUDAGraph of the virtual machine."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._user: PoolUser | None = None
        self._generator: GeneratorState | None = None
        self._is_captured = False

    def capture_begin(self, pool: Pool | None = None, **_: Any) -> None:
        self.reset()
        self._keep_generator_state()
        self._user = PoolUser(pool if pool and any(pool) else new_graph_pool())
        self._user.open_way()
        _open_captures.append(self)
        library().set_capturing(True)
        library().note("cuda-graph", library().current_source(),
                       "what is captured in a CUDA graph runs once, and replays do nothing; what the driver "
                       "itself keeps for a graph is not counted")

    def capture_end(self) -> None:
        if self not in _open_captures or self._user is None:
            raise RuntimeError("capture_end() called before capture_begin().")
        _open_captures.remove(self)
        library().set_capturing(is_capturing())
        self._user.close_way()
        self._is_captured = True

    def replay(self) -> None:
        if not self._is_captured:
            raise RuntimeError("CUDAGraph.replay was called before anything was captured")

    def reset(self) -> None:
        if self._is_captured and self._user is not None:
            self._user.leave()
        self._is_captured = False

    def pool(self) -> Pool:
        if not self._is_captured or self._user is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._user.pool

    def instantiate(self) -> None:
        pass

    def enable_debug_mode(self) -> None:
        pass

    def debug_dump(self, debug_path: str) -> None:
        pass

    def register_generator_state(self, generator: Any) -> None:
        pass

    def _keep_generator_state(self) -> None:
        if self._generator is None:
            self._generator = _generators.setdefault(library().current_device(), GeneratorState())
            self._generator.add_graph()

    def __del__(self) -> None:
        generator = getattr(self, "_generator", None)
        if generator is not None:
            self.reset()
            generator.remove_graph()


def patch_graphs(patches: Patches) -> None:
    patch_pools(patches)
    _open_captures.clear()
    _generators.clear()
    library().set_capturing(False)
    for owner in (torch.cuda, torch.cuda.graphs):
        patches.set_all(owner, CUDAGraph=CUDAGraph, graph_pool_handle=new_user_pool,
                        is_current_stream_capturing=is_capturing)
    patches.set(torch._C, "_cuda_isCurrentStreamCapturing", is_capturing)
    # Made for a stream of this machine.
    patches.set(torch.cuda.graph, "default_capture_stream", None)
