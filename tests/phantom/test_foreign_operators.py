"""Operators of other libraries: their CUDA kernels never run, whenever and however they come."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from quick_compiler import QUICK_COMPILER
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.library import Library, custom_op, register_fake

from tidemark.virtual_cuda import close_gpus


def real_kernel(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("a kernel for a real GPU ran")


@pytest.fixture
def library() -> Iterator[Library]:
    """A namespace of its own; what is registered in it goes with it."""
    made = Library("foreign", "FRAGMENT")
    yield made
    made._destroy()


def define(library: Library, schema: str, **kernels: Callable[..., Any]) -> Any:
    """An operator with these kernels and one for CUDA, which comes last."""
    library.define(schema)
    name = schema.split("(")[0]
    for key, kernel in kernels.items():
        library.impl(name, kernel, key)
    library.impl(name, real_kernel, "CUDA")
    return getattr(torch.ops.foreign, name)


def unknown(*sizes: int) -> Tensor:
    return torch.empty(*sizes, device="cuda")


def codes(session: Any) -> set[str]:
    return {note["code"] for note in session.diagnostics()}


def test_a_late_cuda_kernel_stands_behind_the_meta_kernel(gpus: Any, library: Library) -> None:
    rows = define(library, "rows(Tensor x) -> Tensor", Meta=lambda x: x.new_empty(x.shape[0]))
    assert rows(unknown(3, 4)).shape == (3,)
    assert rows(unknown(5, 4)).device == torch.device("cuda:0")
    assert codes(gpus) == set()


def test_a_kernel_registered_in_any_way_stands_behind(gpus: Any, library: Library) -> None:
    for name in ("a", "b", "c"):
        library.define(f"{name}(Tensor x) -> Tensor")
        register_fake(f"foreign::{name}", torch.empty_like, lib=library)
    torch.library.impl("foreign::a", "cuda", real_kernel, lib=library)
    torch.library.impl(library, "b", "CUDA")(real_kernel)
    torch.library.register_kernel("foreign::c", "cuda", real_kernel, lib=library)
    for name in ("a", "b", "c"):
        assert getattr(torch.ops.foreign, name)(unknown(2, 3)).shape == (2, 3)
    override = Library("aten", "IMPL")
    override.impl(torch.ops.aten.sin.default, real_kernel, "CUDA")
    override.impl("add.Tensor", real_kernel, "CUDA")
    assert (unknown(2, 3).sin() + unknown(3)).shape == (2, 3)
    Library("_", "IMPL").fallback(real_kernel, "CUDA")
    assert unknown(2, 3).cos().shape == (2, 3)
    override._destroy()


def test_without_a_meta_kernel_the_cpu_tells_the_shape(gpus: Any, library: Library) -> None:
    halves = define(library, "halves(Tensor x) -> Tensor[]", CPU=lambda x: list(x.clone().chunk(2)))
    assert [t.shape for t in halves(unknown(4, 3))] == [(2, 3), (2, 3)]
    assert all(t.is_cuda for t in halves(unknown(4, 3)))
    assert codes(gpus) == {"shape-from-cpu"}


def test_without_any_shapes_the_error_names_operator_line_and_way_out(
    gpus: Any, library: Library,
) -> None:
    @custom_op("foreign::opaque", mutates_args=(), device_types="cuda")
    def opaque(x: Tensor) -> Tensor:
        return real_kernel(x)

    blind = define(library, "blind(Tensor x) -> Tensor")
    for call, name in ((blind, "foreign::blind"), (opaque, "foreign::opaque")):
        with pytest.raises(NotImplementedError, match=r"test_foreign_operators\.py:\d+") as failure:
            call(unknown(3))
        assert name in str(failure.value) and "register_fake" in str(failure.value)


def test_custom_ops_run_by_their_fake_kernel_where_they_have_one(gpus: Any) -> None:
    @custom_op("foreign::for_cuda", mutates_args=(), device_types="cuda")
    def for_cuda(x: Tensor) -> list[Tensor]:
        return real_kernel(x)

    @custom_op("foreign::for_all", mutates_args=())
    def for_all(x: Tensor) -> Tensor:
        return real_kernel(x)

    for_cuda.register_fake(lambda x: [x.new_empty(7), torch.empty_like(x)])
    for_all.register_fake(lambda x: x.new_empty(5))
    assert [t.shape for t in for_cuda(unknown(2, 3))] == [(7,), (2, 3)]
    assert for_all(unknown(2, 3)).shape == (5,)


def test_a_custom_op_for_all_devices_without_a_fake_kernel_runs_its_body(gpus: Any) -> None:
    calls = []

    @custom_op("foreign::body", mutates_args=())
    def body(x: Tensor) -> Tensor:
        calls.append(x.device.type)
        return (x.exp() * 2).sum(0)

    x = unknown(1024, 4)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    shapes = [body(x).shape, body(x).shape]
    assert shapes == [(4,), (4,)] and calls == ["cuda", "cuda"]
    # x.exp() and its double live at once, as on a GPU; each has 1024 * 4 floats
    assert torch.cuda.max_memory_allocated() - before == 2 * 1024 * 4 * 4
    assert body(torch.zeros(2, 3, device="cuda")).tolist() == [4.0, 4.0, 4.0]


def test_an_operator_made_of_others_stays_as_it_is(gpus: Any, library: Library) -> None:
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")
    x = torch.ones(3, device="cuda", requires_grad=True)
    y = torch.ops.foreign.twice(x)
    y.sum().backward()
    assert y.tolist() == [2.0] * 3 and x.grad is not None and x.grad.tolist() == [2.0] * 3


def test_mutation_makes_values_unknown_and_keeps_the_tensor(gpus: Any) -> None:
    @custom_op("foreign::scramble", mutates_args=("x",), device_types="cuda")
    def scramble(x: Tensor, y: Tensor) -> None:
        real_kernel(x, y)

    x, y = torch.zeros(3, device="cuda"), torch.ones(3, device="cuda")
    assert gpus.certainty(x.untyped_storage()._cdata) == "known"
    version = x._version
    assert scramble(x, y) is None
    assert gpus.certainty(x.untyped_storage()._cdata) == "unknown"
    assert y.tolist() == [1.0] * 3 and x._version == version + 1


def test_register_autograd_runs_on_shapes(gpus: Any) -> None:
    @custom_op("foreign::scaled", mutates_args=(), device_types="cuda")
    def scaled(x: Tensor, factor: float) -> Tensor:
        return real_kernel(x)

    @custom_op("foreign::scaled_backward", mutates_args=(), device_types="cuda")
    def scaled_backward(grad: Tensor, factor: float) -> Tensor:
        return real_kernel(grad)

    scaled.register_fake(lambda x, factor: torch.empty_like(x))
    scaled_backward.register_fake(lambda grad, factor: torch.empty_like(grad))
    scaled.register_autograd(
        lambda ctx, grad: (scaled_backward(grad.contiguous(), ctx.factor), None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]))
    x = unknown(4, 5).requires_grad_()
    y = scaled(x, 2.0)
    assert y.requires_grad
    y.sum().backward()
    assert x.grad is not None and x.grad.shape == (4, 5) and x.grad.is_cuda


def test_fake_tensors_go_their_own_way(gpus: Any, library: Library) -> None:
    columns = define(library, "columns(Tensor x) -> Tensor")
    register_fake("foreign::columns", lambda x: x.new_empty(x.shape[1]), lib=library)
    with FakeTensorMode():
        fake = columns(torch.empty(3, 4, device="cuda"))
    assert fake.shape == (4,) and fake.device.type == "cuda"
    assert columns(unknown(3, 4)).shape == (4,)


def test_a_fake_kernel_that_asks_for_values_gives_way_to_the_cpu(
    gpus: Any, library: Library,
) -> None:
    def fake(x: Tensor) -> Tensor:
        return x.new_empty(torch.library.get_ctx().new_dynamic_size(), 2, dtype=torch.long)

    positive = define(library, "positive(Tensor x) -> Tensor", CPU=lambda x: (x > 0).nonzero())
    register_fake("foreign::positive", fake, lib=library)
    assert positive(torch.eye(3, device="cuda")).shape == (3, 2)
    assert codes(gpus) == {"shape-from-cpu"}


def test_a_fake_kernel_with_a_fault_of_its_own_is_told_as_it_is(
    gpus: Any, library: Library,
) -> None:
    def wrong(x: Tensor) -> Tensor:
        raise ValueError("a fault of the fake kernel")

    faulty = define(library, "faulty(Tensor x) -> Tensor", CPU=torch.clone)
    register_fake("foreign::faulty", wrong, lib=library)
    with pytest.raises(ValueError, match="a fault of the fake kernel"):
        faulty(unknown(3))


def test_a_new_fake_kernel_counts_from_then_on(gpus: Any, library: Library) -> None:
    again = define(library, "again(Tensor x) -> Tensor", Meta=lambda x: x.new_empty(1))
    assert again(unknown(3)).shape == (1,)
    library.impl("again", lambda x: x.new_empty(2), "Meta")
    assert again(unknown(3)).shape == (2,)


def test_after_closing_the_library_has_its_kernel_again(
    open_session: Callable[..., Any], library: Library,
) -> None:
    library.define("early(Tensor x) -> Tensor")
    library.impl("early", real_kernel, "CUDA")
    register_fake("foreign::early", torch.empty_like, lib=library)
    open_session()
    late = define(library, "late(Tensor x) -> Tensor", Meta=torch.empty_like)
    x = unknown(3)
    assert torch.ops.foreign.early(x).shape == late(x).shape == (3,)
    close_gpus()
    for operator in (torch.ops.foreign.early, late):
        with pytest.raises(AssertionError, match="a kernel for a real GPU ran"):
            operator(x)
    open_session()
    assert torch.ops.foreign.early(unknown(3)).shape == late(unknown(3)).shape == (3,)


# As a C++ extension of a user's comes: compiled, and loaded when the GPUs are there already.
COMPILED = """
#include <torch/library.h>
at::Tensor real(const at::Tensor&) { TORCH_CHECK(false, "a kernel for a real GPU ran"); }
at::Tensor shapes(const at::Tensor& x) { return x.new_empty({x.size(0), 2}); }
TORCH_LIBRARY(compiled_foreign, m) {
  m.def("pairs(Tensor x) -> Tensor");
  m.def("alone(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(compiled_foreign, CUDA, m) {
  m.impl("pairs", &real);
  m.impl("alone", &real);
}
TORCH_LIBRARY_IMPL(compiled_foreign, Meta, m) { m.impl("pairs", &shapes); }
"""


@pytest.fixture(scope="module")
def compiled_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compiled") / "foreign.so"
    folder = Path(torch.__file__).parent
    subprocess.run([QUICK_COMPILER, "-std=c++20", "-shared", "-fPIC", "-x", "c++", "-", "-o", made, f"-I{folder}/include",
                    f"-L{folder}/lib", "-ltorch_cpu", "-lc10"], input=COMPILED, text=True, check=True)
    return made


def test_a_compiled_library_that_comes_late_never_runs_its_kernels(gpus: Any, compiled_library: Path) -> None:
    torch.ops.load_library(compiled_library)
    pairs = torch.ops.compiled_foreign.pairs(unknown(3, 4))
    assert (pairs.shape, pairs.is_cuda) == ((3, 2), True)
    with pytest.raises(NotImplementedError, match="compiled_foreign::alone"):
        torch.ops.compiled_foreign.alone(unknown(3, 4))


ROI_ALIGN = ("roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
             "int sampling_ratio, bool aligned) -> Tensor")


def test_regions_are_aligned_by_their_fake_kernel(gpus: Any) -> None:
    """torchvision's operator as that library declares it."""
    library = Library("torchvision", "FRAGMENT")
    library.define(ROI_ALIGN)
    library.impl("roi_align", real_kernel, "CUDA")
    register_fake("torchvision::roi_align",
                  lambda x, rois, scale, height, width, ratio, aligned:
                  x.new_empty(rois.shape[0], x.shape[1], height, width), lib=library)
    made = torch.ops.torchvision.roi_align(unknown(2, 8, 16, 16), unknown(5, 5), 0.25, 7, 7, 2, False)
    assert (made.shape, made.is_cuda) == ((5, 8, 7, 7), True)
    library._destroy()


NMS = "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


@pytest.fixture
def nms() -> Iterator[Callable[[], Any]]:
    """torchvision's operator as that library declares it, with a kernel for two boxes on the CPU."""
    library = Library("torchvision", "FRAGMENT")

    def register() -> Any:
        library.define(NMS)
        library.impl("nms", real_kernel, "CUDA")
        library.impl("nms", lambda dets, scores, iou: scores.argsort(descending=True)[:2], "CPU")
        register_fake("torchvision::nms", real_kernel, lib=library)
        return torch.ops.torchvision.nms

    yield register
    library._destroy()


@pytest.mark.parametrize(("policy", "kept"), [("plausible", 6), ("bound", 6), ("zero", 0)])
def test_overlapping_boxes_are_all_kept_where_nobody_knows_them(
    open_session: Callable[..., Any], nms: Callable[[], Any], policy: str, kept: int,
) -> None:
    session = open_session(on_value=policy)
    keep = nms()(unknown(6, 4), unknown(6), 0.5)
    assert (keep.shape, keep.dtype, keep.is_cuda) == ((kept,), torch.int64, True)
    assert unknown(6, 4)[keep].shape == (kept, 4)
    (note,) = [note for note in session.diagnostics() if note["code"] == "assumed-shape"]
    assert "torchvision::nms" in note["message"] and "kept" in note["message"]
    assert "test_foreign_operators.py" in note["where"]


def test_known_boxes_are_asked_of_the_cpu(gpus: Any, nms: Callable[[], Any]) -> None:
    scores = torch.tensor([0.1, 0.9, 0.5], device="cuda")
    assert nms()(torch.zeros(3, 4, device="cuda"), scores, 0.5).tolist() == [1, 2]
    assert codes(gpus) == set()


# Of Triton's shape: kernels are launched through KernelInterface of triton.runtime.jit.
TRITON = """
class KernelInterface:
    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)
"""


@pytest.fixture
def launched_by_grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Triton's own class, which comes with a CUDA build of torch; elsewhere one like it."""
    if importlib.util.find_spec("triton"):
        yield importlib.import_module("triton.runtime.jit").KernelInterface
        return
    (tmp_path / "triton/runtime").mkdir(parents=True)
    for path, text in (("__init__", ""), ("runtime/__init__", ""), ("runtime/jit", TRITON)):
        (tmp_path / f"triton/{path}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("triton.runtime.jit").KernelInterface
    for name in ("triton", "triton.runtime", "triton.runtime.jit"):
        del sys.modules[name]


def test_a_triton_kernel_launched_by_hand_is_refused_with_its_line(gpus: Any, launched_by_grid: Any) -> None:
    class Kernel(launched_by_grid):  # type: ignore[misc]
        __name__ = "add_kernel"

        def run(self, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            return "ran", grid

    with pytest.raises(RuntimeError, match=r"`add_kernel`.*test_foreign_operators\.py:\d+.*triton_op"):
        Kernel()[(1,)](unknown(3), 3)
    assert Kernel()[(1,)](torch.empty(3, device="meta"), 3) is None
    assert Kernel()[(4,)](torch.zeros(3), n=3) == ("ran", (4,))
    close_gpus()
    assert Kernel()[(4,)](torch.empty(3, device="meta")) == ("ran", (4,))
