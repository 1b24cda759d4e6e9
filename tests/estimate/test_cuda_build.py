"""With a CUDA build of torch, what its libtorch_cuda.so says of CUDA gives way to ours, without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from quick_compiler import QUICK_COMPILER

TORCH = Path(torch.__file__).parent

# What libtorch_cuda.so registers as it is loaded, where ours stands over it.
CUDA = """
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>
#include <cstdlib>
struct CUDAHooks : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs) { std::abort(); }
};
struct CudaTimer : c10d::Timer {
  explicit CudaTimer(c10::Device) { std::abort(); }
  std::optional<std::int64_t> measureDifference(Event, Event) override { return std::nullopt; }
};
using at::CUDAHooksRegistry, at::RegistererCUDAHooksRegistry;
using c10d::TimerRegistry, c10d::RegistererTimerRegistry;
REGISTER_CUDA_HOOKS(CUDAHooks)
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kCUDA, CudaTimer)
"""

TRAINING = """
import torch
import torch.distributed as dist
assert "libtorch_cuda.so" in open("/proc/self/maps").read()
dist.init_process_group("nccl", rank=0, world_size=1, store=dist.HashStore())
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4).cuda())
model(torch.ones(2, 4, device="cuda")).sum().backward()
"""


def compile_library(made: Path, text: str, *flags: str) -> None:
    subprocess.run([QUICK_COMPILER, "-std=c++20", "-shared", "-fPIC", "-x", "c++", "-", "-o", made, f"-I{TORCH}/include",
                    f"-Wl,-soname,{made.name},-rpath,$ORIGIN,--no-as-needed", f"-L{made.parent}", *flags],
                   input=text, text=True, check=True)


@pytest.fixture
def cuda_build(tmp_path: Path) -> Path:
    """A folder with this torch, whose libtorch.so needs a libtorch_cuda.so as that of a CUDA build does."""
    if (TORCH / "lib/libtorch_cuda.so").exists():
        return tmp_path
    (tmp_path / "torch/lib").mkdir(parents=True)
    for file in (*TORCH.iterdir(), *(TORCH / "lib").iterdir()):
        if file.name not in ("lib", "libtorch.so"):
            (tmp_path / "torch" / file.relative_to(TORCH)).symlink_to(file)
    libraries = tmp_path / "torch/lib"
    compile_library(libraries / "libtorch_cuda.so", CUDA, "-ltorch_cpu", "-lc10")
    compile_library(libraries / "libtorch.so", "", "-ltorch_cpu", "-ltorch_cuda")
    return tmp_path


def test_an_estimate_with_a_cuda_build_of_torch_writes_no_line_of_its_registries(cuda_build: Path) -> None:
    (cuda_build / "train.py").write_text(TRAINING)
    done = subprocess.run([sys.executable, "-m", "tidemark", "estimate", "train.py"], cwd=cuda_build,
                          env=os.environ | {"PYTHONPATH": str(cuda_build)}, capture_output=True, text=True,
                          timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
