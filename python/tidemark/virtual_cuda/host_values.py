"""What gets at the memory of CPU tensors past every operator.

Large ones may not have their values yet; they get them when they are touched. The system does not
touch memory as a program does, it refuses: so whoever may hand the address to the system is given the
values before. And whoever listens for faults must let ours be heard first.
"""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data._utils import signal_handling

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def patch_host_values(patches: Patches) -> None:
    tensor, storage = torch.Tensor, torch.UntypedStorage
    patches.set_all(tensor, numpy=_filled_first(tensor.numpy),
                    __dlpack__=_filled_first(tensor.__dlpack__))
    patches.set_all(storage, _write_file=_filled_first(storage._write_file),
                    _set_from_file=_filled_first(storage._set_from_file))
    write = torch._C.PyTorchFileWriter.write_record
    patches.set(torch._C.PyTorchFileWriter, "write_record", _record_filled(write))
    patches.set_all(faulthandler, enable=_heard_after(faulthandler.enable),
                    disable=_heard_after(faulthandler.disable))
    patches.set(signal, "signal", _heard_after(signal.signal))
    # Each worker of a loader has handlers of its own.
    workers: Any = signal_handling  # its types do not have the name
    patches.set(workers, "_set_worker_signal_handlers", _heard_after(workers._set_worker_signal_handlers))


def _filled_first(method: Callable[..., Any]) -> Callable[..., Any]:
    def filled(self: Any, *args: Any, **kwargs: Any) -> Any:
        fill(self)
        return method(self, *args, **kwargs)

    filled.__name__, filled.__doc__ = method.__name__, method.__doc__
    return filled


def _record_filled(write: Callable[..., Any]) -> Callable[..., Any]:
    """A file without checksums is written straight from memory."""
    def write_filled(self: Any, name: str, data: Any, *args: Any) -> Any:
        if isinstance(data, torch.UntypedStorage):
            fill(data)
        return write(self, name, data, *args)

    return write_filled


def _heard_after(put: Callable[..., Any]) -> Callable[..., Any]:
    def put_ours_first(*args: Any, **kwargs: Any) -> Any:
        result = put(*args, **kwargs)
        library().watch_host_memory()
        return result

    return put_ours_first


def fill(owner: Any) -> None:
    """Gives a CPU tensor or storage its values, where it does not have them yet."""
    storage = host_storage(owner) if isinstance(owner, torch.Tensor) else owner
    if storage is not None:
        library().fill_storage(storage._cdata)


def host_storage(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """Of a plain CPU tensor."""
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        return None
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # a wrapper without a storage of its own
        return None
