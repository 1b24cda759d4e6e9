"""torch.cuda's streams and events, through PyTorch's own device-independent ones."""

from __future__ import annotations

from typing import Any

import torch

from tidemark.virtual_cuda.devices import CurrentDevice, index_of
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def _device(device: Any = None) -> torch.device:
    return torch.device("cuda", index_of(device))


class Stream(torch.Stream):
    """torch.cuda.Stream of the virtual machine."""

    def __new__(cls, device: Any = None, priority: int = 0, **ids: Any) -> "Stream":
        if ids:
            return super().__new__(cls, priority=priority, **ids)
        return super().__new__(cls, device=_device(device), priority=priority)

    @property
    def cuda_stream(self) -> int:
        return self.stream_id

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return 0, -5


class Event(torch.Event):
    """torch.cuda.Event of the virtual machine: done as soon as it is recorded."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
    ) -> "Event":
        return super().__new__(cls, device=_device(), enable_timing=True)

    def elapsed_time(self, end_event: torch.Event) -> float:
        return 1.0

    def wait(self, stream: Any = None) -> None:
        pass

    def record(self, stream: Any = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass


class StreamContext:
    """torch.cuda.stream(...): None does nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        self._device = CurrentDevice(self.stream.device_index)
        self._device.__enter__()
        self._before = library().current_stream(self.stream.device_index)
        library().set_stream(self.stream.device_index, self.stream.stream_id)

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            library().set_stream(self.stream.device_index, self._before)
            self._device.__exit__()


def patch_streams(patches: Patches) -> None:
    cuda_type = 1  # as PyTorch numbers device types

    def stream_of(device: Any, number: int) -> Stream:
        return Stream(stream_id=number, device_index=index_of(device), device_type=cuda_type)

    def set_stream(stream: Any) -> None:
        if stream is not None:
            library().set_stream(stream.device_index, stream.stream_id)

    patches.set_all(
        torch.cuda,
        Stream=Stream,
        Event=Event,
        ExternalStream=Stream,
        StreamContext=StreamContext,
        stream=StreamContext,
        set_stream=set_stream,
        current_stream=lambda device=None: stream_of(
            device, library().current_stream(index_of(device))
        ),
        default_stream=lambda device=None: stream_of(device, 0),
    )
    patches.set_all(torch.cuda.streams, Stream=Stream, Event=Event)
