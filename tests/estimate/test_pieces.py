"""Pieces of a call: written and read, refused where they make no sense, and told from an allocator's events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.calibration.pieces import Pieces, brief, pieces_in, pieces_of, text_of


def alloc(address: int, size: int) -> dict[str, Any]:
    return {"action": "alloc", "addr": address, "size": size}


def free(address: int) -> list[dict[str, Any]]:
    return [{"action": action, "addr": address, "size": 0} for action in ("free_requested", "free_completed")]


@pytest.mark.parametrize("text", ["", "=0", "+5 -0", "=1 +5 =0 +6 -1 -0 =2"])
def test_a_text_is_read_as_it_was_written(text: str) -> None:
    assert text_of(pieces_of(text)) == text


@pytest.mark.parametrize("text", ["x", "5", "+", "+5  -0", " +5", "+5 ", "+5.0", "=0 =0", "-0", "+5 -1",
                                  "+5 -0 -0", "+-5", "+" + "9" * 30, "+٣"])
def test_what_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="pieces|out of place"):
        pieces_of(text)


def test_one_amount_is_taken_and_given_back() -> None:
    assert text_of(brief(5)) == "+5 -0" and brief(0) == ()


@pytest.mark.parametrize(("events", "results", "expected"), [
    ([], [], ""),
    ([alloc(1, 8)], [1], "=0"),
    ([alloc(2, 8), alloc(1, 8)], [1, 2], "=1 =0"),
    ([alloc(1, 8), alloc(2, 9), *free(2)], [1], "=0 +9 -0"),
    # An address serves again: first for scratch, then for a result.
    ([alloc(1, 9), *free(1), alloc(1, 8)], [1], "+9 -0 =0"),
    ([alloc(1, 9), *free(1), alloc(1, 7), *free(1)], [5], "+9 -0 +7 -1"),
    # None, a result that is an argument, two results of one storage, what a library keeps.
    ([alloc(3, 8), alloc(9, 100)], [0, 7, 3, 3], "=2"),
    # The end of something that was there before the call.
    ([*free(4), alloc(1, 8)], [1], "=0"),
    ([{"action": "segment_alloc", "addr": 1, "size": 64}, alloc(1, 8)], [1], "=0"),
])
def test_pieces_are_told_from_events(events: list[dict[str, Any]], results: list[int], expected: str) -> None:
    assert text_of(pieces_in(events, results)) == expected


@st.composite
def orders(draw: st.DrawFn) -> Pieces:
    pieces: list[tuple[str, int]] = []
    held: list[int] = []
    taken = born = 0
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from("=+-" if held else "=+"))
        if kind == "-":
            pieces.append(("-", held.pop(draw(st.integers(0, len(held) - 1)))))
        elif kind == "+":
            held.append(taken)
            pieces.append(("+", draw(st.integers(1, 1 << 50))))
            taken += 1
        else:
            pieces.append(("=", born))
            born += 1
    return (*pieces, *(("-", one) for one in held))


@given(orders())
def test_an_allocator_that_does_it_tells_the_same_order(pieces: Pieces) -> None:
    """Addresses of what was given back serve again, the latest first."""
    unused, taken, events, results = [*range(100, 0, -1)], [], [], []
    for kind, value in pieces:
        if kind == "-":
            events += free(taken[value])
            unused.append(taken[value])
            continue
        address = unused.pop()
        events.append(alloc(address, value if kind == "+" else 8))
        (taken if kind == "+" else results).append(address)
    assert pieces_in(events, results) == pieces
    assert pieces_of(text_of(pieces)) == pieces
