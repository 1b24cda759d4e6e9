"""Made-up values that a program brings to the host: a note for each line, in the program's own words."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

SENTENCE = "returned a made-up value; what the script prints is fictitious"
# Of one number, or of several.
ASKED: dict[str, tuple[str, Callable[[torch.Tensor], Any]]] = {
    "item": ("`.item()`", lambda t: t[0].item()),
    "item of a copy": ("`.item()`", lambda t: t.cpu()[0].item()),
    "tolist": ("`.tolist()`", lambda t: t.tolist()),
    "tolist of a copy": ("`.tolist()`", lambda t: t.cpu().tolist()),
    "numpy": ("`.numpy()`", lambda t: t.cpu().numpy()),
    "numpy of another type": ("`.numpy()`", lambda t: t.to("cpu", torch.float64).view(2, -1).numpy()),
    "array": ("`.numpy()`", lambda t: numpy.asarray(t.cpu())),
    "bool": ("`bool(tensor)`", lambda t: bool(t[0] > 3)),
    "if": ("`bool(tensor)`", lambda t: 1 if t[0] > 3 else 2),
    "int": ("`int(tensor)`", lambda t: int(t[0])),
    "float": ("`float(tensor)`", lambda t: float(t[0])),
    "float of a copy": ("`float(tensor)`", lambda t: float(t[0].cpu())),
    "f-string": ("`format(tensor)`", lambda t: f"{t[0]:.3f}"),
    "f-string of several": ("`format(tensor)`", lambda t: f"{t}"),
    "print": ("`print(tensor)`", lambda t: str(t[0])),
    "print several": ("`print(tensor)`", lambda t: str(t)),
    "print a copy": ("`print(tensor)`", lambda t: str(t.cpu())),
}


def unknown() -> torch.Tensor:
    return torch.empty(512, 1024, device="cuda").flatten()


def notes_of(library: Any) -> list[dict[str, Any]]:
    return [note for note in library.diagnostics() if note["code"].startswith("assumed")]


@pytest.mark.parametrize("name", ASKED)
def test_each_way_is_told_once_a_line(open_session: Callable[..., Any], name: str) -> None:
    library = open_session()
    word, ask = ASKED[name]
    for _ in range(3):
        ask(unknown())
    (note,) = notes_of(library)
    line = inspect.getsourcelines(ask)[1]
    assert note["where"].endswith(f"test_asked_values.py:{line}") and note["count"] >= 3
    assert note["message"] == f"{word} {SENTENCE}"


def test_what_is_known_is_not_told(open_session: Callable[..., Any]) -> None:
    library = open_session()
    known = torch.arange(4, device="cuda").float()
    assert known.tolist() == [0, 1, 2, 3] and known.cpu().numpy().sum() == 6
    assert f"{known[2]:.1f}" == "2.0" and "3." in str(known) and bool(known[1] == 1)
    there_and_back = unknown().cpu().cuda()  # nobody looks at it
    assert there_and_back.is_cuda and not notes_of(library)


def test_nothing_is_asked_under_the_policy_that_wants_none(open_session: Callable[..., Any]) -> None:
    open_session(on_value="error")
    host = unknown().cpu()
    for ask in (lambda: unknown().tolist(), host.tolist, host.numpy, lambda: str(host), lambda: float(host[0])):
        with pytest.raises(RuntimeError, match=r"test_asked_values\.py:\d+ \(tidemark --on-value error\)"):
            ask()
