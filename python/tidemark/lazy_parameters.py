"""Parameters and buffers of lazy modules: they get their memory when a call has told their shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.utils.weak import WeakIdKeyDictionary

from tidemark.recording.replaced_method import ReplacedMethod

if TYPE_CHECKING:
    UninitializedTensorMixin: Any  # torch's types do not have it
else:
    from torch.nn.parameter import UninitializedTensorMixin

_started: list[LazyParameters] = []


def _told(original: Any) -> Callable[..., None]:
    def materialize(tensor: Any, *arguments: Any, **options: Any) -> None:
        original(tensor, *arguments, **options)
        for one in list(_started):
            one.take(tensor)

    return materialize


_METHOD = ReplacedMethod(UninitializedTensorMixin, "materialize", _told)


class LazyParameters:
    """While started: what to do with a parameter that was put off is done once it has memory."""

    def __init__(self) -> None:
        self._waiting: Any = WeakIdKeyDictionary()

    def start(self) -> None:
        _METHOD.start()
        _started.append(self)

    def stop(self) -> None:
        if self in _started:
            _started.remove(self)
            _METHOD.stop()

    def put_off(self, tensor: Any, what: Callable[[Any], None]) -> None:
        self._waiting[tensor] = what

    def take(self, tensor: Any) -> None:
        what = self._waiting.pop(tensor, None)
        if what is not None:
            what(tensor)
