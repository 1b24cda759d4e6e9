"""Runs scripts under PyTorch's FakeTensorMode and MemTracker and prints the peak of each in a line.

usage: fake_peak.py PROGRAM...    each a JSON list: the script and its arguments

Each is a fork of this process, since to import all this takes longer than most of them.

The virtual device is on, so that `cuda` exists and a backward over it can run, but without our
kernels: every tensor is a fake one, and what is counted is counted by PyTorch's tracker alone.
"""

from __future__ import annotations

import json
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy

from tidemark.estimation.distributed import patch_distributed
from tidemark.forked import run_in_fork
from tidemark.gpus import CATALOGUE, DEFAULT_GPU
from tidemark.virtual_cuda import load, open_gpus
from tidemark.virtual_cuda.patches import Patches

load()

import torch  # noqa: E402  the virtual device comes first
from torch._subclasses import fake_impls, fake_tensor  # noqa: E402
from torch.distributed._tools.mem_tracker import MemTracker  # noqa: E402
from torch.optim.optimizer import _foreach_supported_types  # noqa: E402
from torch.utils.weak import WeakIdKeyDictionary  # noqa: E402


class NoHook:
    """Stands for a hook that need not be removed."""

    def remove(self) -> None:
        pass


class Tracker(MemTracker):
    """PyTorch's tracker, saved from two of its limits; neither is about what it counts."""

    def _pre_fw_hook(self, module: torch.nn.Module, inputs: Any) -> None:
        # It refuses a second iteration: its notes about modules are forgotten before each.
        if self._mod_tracker.parents == {"Global"} | {self._mod_tracker.get_known_fqn(module)}:
            if not self._mod_tracker.is_bw:
                self.reset_mod_stats()
        super()._pre_fw_hook(module, inputs)

    def _track_module_params_and_buffers(
        self, module: torch.nn.Module, *args: Any, **kwargs: Any
    ) -> Any:
        # It fails on frozen parameters, which can have no hook.
        for parameter in module.parameters():
            if not parameter.requires_grad:
                self._param_to_grad_hook_handles.setdefault(parameter, (NoHook(), NoHook()))
        return super()._track_module_params_and_buffers(module, *args, **kwargs)


def replace_tensors(module: torch.nn.Module, change: Any, recurse: bool = True) -> torch.nn.Module:
    """nn.Module._apply with new parameters: PyTorch cannot swap a fake one for another in place."""
    for child in module.children():
        child._apply(change)
    for tensors in (module._parameters, module._buffers):
        for name, tensor in tensors.items():
            if tensor is None:
                continue
            if tensor not in _replaced:
                changed = change(tensor.detach())
                is_parameter = isinstance(tensor, torch.nn.Parameter)
                _replaced[tensor] = (
                    torch.nn.Parameter(changed, tensor.requires_grad) if is_parameter else changed)
            tensors[name] = _replaced[tensor]
    return module


_replaced = WeakIdKeyDictionary()  # tied ones stay tied
_true = WeakIdKeyDictionary()


def let_fake_tensors_run() -> None:
    # As on every CPU build: no real tensor is made on the device, which has no kernels here.
    fake_tensor.FakeTensorMode.avoid_device_init = True
    fake_tensor.init_gpu_context = lambda device: None
    # Optimizers work on lists of parameters only where these are of a type they know.
    _foreach_supported_types.append(fake_tensor.FakeTensor)
    # Pinned memory is the host's.
    torch.Tensor.pin_memory = lambda self, *args: self
    # Ranks would compare their parameters by value.
    torch.nn.parallel.distributed._verify_param_shape_across_processes = lambda *args: None
    torch.nn.Module._apply = replace_tensors
    # Values of fake tensors are unknown; those that are only printed may be anything. Checks pass:
    # nothing is broken, all is finite.
    fake_impls.op_implementations_dict[torch.ops.aten._local_scalar_dense.default] = (
        lambda mode, func, tensor: 0.0 if tensor.is_floating_point() else int(tensor in _true))
    ask = torch.Tensor.all

    def all_are(self: torch.Tensor, *args: Any) -> torch.Tensor:
        answer = ask(self, *args)
        _true[answer] = True
        return answer

    torch.Tensor.all = all_are
    torch.Tensor.numpy = lambda self: numpy.zeros(self.shape)


def peak_of(script: str, arguments: list[str]) -> int:
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    mode, tracker = fake_tensor.FakeTensorMode(allow_non_fake_inputs=True), Tracker()
    with redirect_stdout(sys.stderr), mode, tracker:
        runpy.run_path(script, run_name="__main__")
    snapshot = tracker.get_tracker_snapshot("peak")
    return int(snapshot[torch.device("cuda:0")]["Total"])


def tell_peak(script: str, *arguments: str) -> int:
    open_gpus(CATALOGUE[DEFAULT_GPU], cuda_choices=False, kernels=False)
    patch_distributed(Patches())
    let_fake_tensors_run()
    print(peak_of(script, list(arguments)))
    return 0


if __name__ == "__main__":
    for program in map(json.loads, sys.argv[1:]):
        if code := run_in_fork(lambda: tell_peak(*program)):
            sys.exit(f"{program} ended with {code}")
