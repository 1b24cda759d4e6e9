"""Methods of PyTorch's that tell whoever listens what they are about to do, and what they have done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import wraps
from typing import Any, NamedTuple

import torch

from tidemark.recording.replaced_method import ReplacedHook, ReplacedMethod, ReplacedMethods

# What a hearer does around a call: up to the yield before it, with what comes out of the yield after.
Around = Generator[None, Any, None]
Point = Callable[..., Around]  # of the hearer, and of what the method is given
After = Callable[..., None]  # of the hearer, of what the method has returned, and of what it was given


class HeardPoint(NamedTuple):
    """A method by its owner and its name, or a hook by its table and its number; and what a hearer
    does around a call, or only after it."""

    owner: Any
    name: Any
    around: Point | None = None
    after: After | None = None


class HeardMethods:
    """Points at which hearers stand.

    A hearer may be anything with a method `give_up`: an error in one of its points ends up there, and
    never in the program. None is kept alive by a call that is over, nor is any tensor.
    """

    def __init__(self, points: Iterable[HeardPoint]) -> None:
        self._hearers: list[Any] = []
        self._methods = ReplacedMethods(
            (ReplacedHook if isinstance(one.owner, dict) else ReplacedMethod)(
                one.owner, one.name, self._heard(one)) for one in points)

    def start(self, hearer: Any) -> None:
        self._hearers.append(hearer)
        self._methods.start()

    def stop(self, hearer: Any) -> None:
        if any(one is hearer for one in self._hearers):
            self._hearers[:] = [one for one in self._hearers if one is not hearer]
            self._methods.stop()

    def _heard(self, point: HeardPoint) -> Callable[[Any], Any]:
        if point.around is not None:
            return self._heard_around(point.around)
        assert point.after is not None
        return self._heard_after(point.after)

    def _heard_after(self, after: After) -> Callable[[Any], Any]:
        hearers = self._hearers
        is_traced = torch.compiler.is_dynamo_compiling

        def make(original: Any) -> Any:
            @wraps(original)
            def method(*arguments: Any, **options: Any) -> Any:
                result = original(*arguments, **options)
                if is_traced():
                    return result
                for hearer in tuple(hearers):
                    try:
                        after(hearer, result, *arguments, **options)
                    except Exception as problem:  # as below
                        hearer.give_up(problem)
                return result

            return method

        return make

    def _heard_around(self, point: Point) -> Callable[[Any], Any]:
        hearers = self._hearers
        is_traced = torch.compiler.is_dynamo_compiling

        def make(original: Any) -> Any:
            @wraps(original)
            def method(*arguments: Any, **options: Any) -> Any:
                if is_traced():
                    return original(*arguments, **options)
                calls = [(one, begun(one, point, arguments, options)) for one in tuple(hearers)]
                try:
                    result = original(*arguments, **options)
                except BaseException:
                    for hearer, around in calls:
                        tried(hearer, around.close)
                    raise
                for hearer, around in calls:
                    tried(hearer, around.send, result)
                return result

            return method

        return make


def begun(hearer: Any, point: Point, arguments: Any, options: Any) -> Around:
    around = point(hearer, *arguments, **options)
    tried(hearer, around.send, None)
    return around


def tried(hearer: Any, work: Callable[..., Any], *arguments: Any) -> None:
    """A bug of ours ends the tracking, not the program; the end of a point is none."""
    try:
        work(*arguments)
    except StopIteration:
        pass
    except Exception as problem:
        hearer.give_up(problem)
