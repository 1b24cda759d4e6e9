"""The interpreter's frames, looked at as they are, say what Python's frame objects say."""

from __future__ import annotations

import asyncio
import ctypes
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from quick_compiler import QUICK_COMPILER

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
Stack = list[tuple[Any, int, int]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.PyDLL:
    built = tmp_path_factory.mktemp("frames") / "frames.so"
    subprocess.run([QUICK_COMPILER, "-std=c++20", "-shared", "-fPIC", f"-I{ROOT}",
                    f"-I{sysconfig.get_path('include')}", "-o", str(built),
                    str(HERE / "frames_probe.cpp"),
                    str(ROOT / "python/lines/interpreter_frames.cpp")], check=True)
    found = ctypes.PyDLL(str(built))
    found.by_objects.restype = ctypes.py_object
    if hasattr(found, "by_frames"):
        found.by_frames.restype = ctypes.py_object
    return found


class Look:
    """Called somewhere: walks over the stack both ways, and as Python itself shows it."""

    def __init__(self, library: ctypes.PyDLL) -> None:
        self._library = library
        self.names: list[str] = []

    def __call__(self, *_: Any) -> int:
        ways = [self._library.by_frames] if hasattr(self._library, "by_frames") else []
        # On one line, and before any object is made of a frame.
        found: list[Stack] = [way() for way in [*ways, self._library.by_objects]]
        shown = list(frames_here())
        for stack in found:
            mine = next(i for i, one in enumerate(stack) if one[0] is Look.__call__.__code__)
            assert [one[0] for one in stack[mine:]] == [f.f_code for f in shown]
            # Ours has gone on since; who called us has not.
            assert [one[1:] for one in stack[mine + 1:]] == [
                (f.f_lasti, f.f_lineno) for f in shown[1:]]
        self.names = [f.f_code.co_name for f in shown[1:]]
        return 0


def frames_here() -> Iterator[Any]:
    frame: Any = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def in_a_generator(look: Look) -> None:
    def numbers() -> Iterator[int]:
        yield 1
        yield look()

    def outer() -> Iterator[int]:
        yield from numbers()

    assert list(outer()) == [1, 0]


def in_nested_functions(look: Look) -> None:
    here = "a cell"

    def inner() -> str:
        def innermost() -> str:
            look()
            return here

        return innermost()

    inner()


def in_a_callback_from_c(look: Look) -> None:
    sorted([3, 1, 2], key=look)
    list(map(partial(look), [1]))


def in_a_lambda(look: Look) -> None:
    (lambda: look())()


def in_a_comprehension(look: Look) -> None:
    assert [look() for _ in range(2)] == [0, 0]
    assert {one: look() for one in (look() for _ in range(1))} == {0: 0}


def in_code_from_a_string(look: Look) -> None:
    exec("def made():\n\n    look()\nmade()", {"look": look})
    assert eval("look()", {"look": look}) == 0


def in_a_coroutine(look: Look) -> None:
    async def inner() -> int:
        await asyncio.sleep(0)
        return look()

    async def outer() -> int:
        return await inner()

    assert asyncio.run(outer()) == 0


def in_a_class_body(look: Look) -> None:
    class Body:
        looked = look()

        def __getattr__(self, name: str) -> int:
            return look()

    assert Body().anything == 0


def in_a_thread(look: Look) -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            look()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not errors, errors[0]


def while_an_object_ends(look: Look) -> None:
    class Ending:
        def __del__(self) -> None:
            look()

    Ending()


@pytest.mark.parametrize("place", [
    in_a_generator, in_nested_functions, in_a_callback_from_c, in_a_lambda, in_a_comprehension,
    in_code_from_a_string, in_a_coroutine, in_a_class_body, in_a_thread, while_an_object_ends])
def test_both_ways_over_the_frames_see_the_same(library: ctypes.PyDLL,
                                                place: Callable[[Look], None]) -> None:
    look = Look(library)
    place(look)
    assert len(look.names) >= (2 if place is in_a_thread else 3)


def test_the_interpreters_frames_are_known_where_they_were_tried(library: ctypes.PyDLL) -> None:
    assert hasattr(library, "by_frames") == ((3, 11) <= sys.version_info[:2] <= (3, 13))
