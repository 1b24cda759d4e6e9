"""CUDA graphs: what is captured runs once, as it stands; a replay allocates nothing and does nothing."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches

Pool = tuple[int, int]
_pools = itertools.count(1)
_open_captures: list["CUDAGraph"] = []


def new_pool() -> Pool:
    return 0, next(_pools)


def is_capturing() -> bool:
    return bool(_open_captures)


class CUDAGraph:
    """torch.cuda.CUDAGraph of the virtual machine."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._pool: Pool | None = None
        self._is_captured = False

    def capture_begin(self, pool: Pool | None = None, **_: Any) -> None:
        self._pool = pool or new_pool()
        _open_captures.append(self)
        library().set_capturing(True)
        library().diagnose("cuda-graph", library().current_source(),
                           "what is captured in a CUDA graph was counted as it ran once; that the graph "
                           "keeps the memory of its temporary tensors was not")

    def capture_end(self) -> None:
        _open_captures.remove(self)
        library().set_capturing(is_capturing())
        self._is_captured = True

    def replay(self) -> None:
        if not self._is_captured:
            raise RuntimeError("CUDAGraph.replay was called before anything was captured")

    def reset(self) -> None:
        self._is_captured = False

    def pool(self) -> Pool | None:
        return self._pool

    def instantiate(self) -> None:
        pass

    def enable_debug_mode(self) -> None:
        pass

    def debug_dump(self, debug_path: str) -> None:
        pass


def patch_graphs(patches: Patches) -> None:
    _open_captures.clear()
    library().set_capturing(False)
    for owner in (torch.cuda, torch.cuda.graphs):
        patches.set_all(owner, CUDAGraph=CUDAGraph, graph_pool_handle=new_pool,
                        is_current_stream_capturing=is_capturing)
    patches.set(torch._C, "_cuda_isCurrentStreamCapturing", is_capturing)
    # Made for a stream of this machine.
    patches.set(torch.cuda.graph, "default_capture_stream", None)
