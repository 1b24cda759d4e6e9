"""What PyTorch's allocators of the GPUs count at their highest while a program is followed."""

from __future__ import annotations

from tidemark.recording.library import _recorder

NAMES = ("max_allocated_bytes", "max_reserved_bytes")

_running = 0  # trackings that are under way


class GpuCounts:
    """The high marks of one tracking, over all times that it is entered. Marks are the process's:
    a tracking inside of another has none."""

    def __init__(self) -> None:
        self._is_first = False
        self._highest: dict[str, tuple[int, int]] = {}  # allocated and reserved bytes by device

    def start(self) -> None:
        global _running
        self._is_first = _running == 0
        _running += 1
        if self._is_first:
            _recorder.restart_cuda_high_marks()

    def stop(self) -> dict[str, object]:
        """The marks so far, as a tape has them."""
        global _running
        _running -= 1
        if self._is_first:
            for device, marks in _recorder.cuda_high_marks().items():
                before = self._highest.get(device, (0, 0))
                self._highest[device] = (max(before[0], marks[0]), max(before[1], marks[1]))
        return {f"gpu.{device}.{name}": number
                for device, marks in self._highest.items()
                for name, number in zip(NAMES, marks, strict=True)}
