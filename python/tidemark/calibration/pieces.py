"""What happens inside a call: memory taken and given back, and results born, in their order.

As text "=0 +4096 -0 =1": the first result is born, 4096 bytes are taken, the first of what was taken is
given back, the second result is born. A result that is not named is there before the first piece.
"""

from __future__ import annotations

import re
from typing import Any

RESULT, TAKE, GIVE_BACK = "=", "+", "-"
Pieces = tuple[tuple[str, int], ...]
PIECE = re.compile(r"([=+-])(\d{1,18})", re.ASCII)


def text_of(pieces: Pieces) -> str:
    return " ".join(f"{kind}{value}" for kind, value in pieces)


def pieces_of(text: str) -> Pieces:
    """Raises ValueError for a text that is none, or that gives back what nobody has taken."""
    found = [PIECE.fullmatch(word) for word in text.split(" ")] if text else []
    if not all(found):
        raise ValueError(f"{text!r} is no order of pieces")
    pieces = tuple((one[1], int(one[2])) for one in found if one)
    _check(pieces)
    return pieces


def _check(pieces: Pieces) -> None:
    taken = 0
    held: set[int] = set()
    born: set[int] = set()
    for kind, value in pieces:
        known = held if kind == GIVE_BACK else born
        if kind == TAKE:
            held.add(taken)
            taken += 1
        elif (value in known) != (kind == GIVE_BACK):
            raise ValueError(f"{kind}{value} is out of place in {text_of(pieces)!r}")
        elif kind == GIVE_BACK:
            held.remove(value)
        else:
            born.add(value)


def brief(taken: int) -> Pieces:
    """So many bytes beside all results: what is known of a call without its order."""
    return ((TAKE, taken), (GIVE_BACK, 0)) if taken else ()


def pieces_in(events: list[dict[str, Any]], results: list[int]) -> Pieces:
    """Of the allocator's events while a call ran, and the addresses of its results (0: none).

    What is neither a result nor given back is left out: a library keeps it, and a later call has it.
    """
    births = {event["addr"]: number for number, event in enumerate(events) if event["action"] == "alloc"}
    result_of = {births[address]: number for number, address in reversed(list(enumerate(results)))
                 if address in births}
    given_back = _ends(events)
    pieces: list[tuple[str, int]] = []
    taken: dict[int, int] = {}  # by the event of its birth
    for number, event in enumerate(events):
        if number in result_of:
            pieces.append((RESULT, result_of[number]))
        elif number in given_back.values():
            taken[number] = len(taken)
            pieces.append((TAKE, event["size"]))
        elif number in given_back:
            pieces.append((GIVE_BACK, taken[given_back[number]]))
    return tuple(pieces)


def _ends(events: list[dict[str, Any]]) -> dict[int, int]:
    """The birth that each end belongs to, both by number; ends of what was there before are not among them."""
    alive: dict[int, int] = {}
    ends = {}
    for number, event in enumerate(events):
        if event["action"] == "alloc":
            alive[event["addr"]] = number
        elif event["action"] == "free_requested" and event["addr"] in alive:
            ends[number] = alive.pop(event["addr"])
    return ends
