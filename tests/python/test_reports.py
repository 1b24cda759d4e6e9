"""What people and machines see of an answer."""

import json

import pytest

import tidemark
from tidemark import Category, Kind, Phase

ANSWERS = {
    "peak": lambda tape: tape.peak(),
    "scopes": lambda tape: tape.scopes(),
    "timeline": lambda tape: tape.timeline(),
    "lifetimes": lambda tape: tape.lifetimes(),
    "leaks": lambda tape: tape.leaks(),
    "diff": lambda tape: tape.diff(tape),
    "report": lambda tape: tape.report(),
    "verify": lambda tape: tape.verify(),
}


@pytest.fixture(params=ANSWERS)
def answer(request, tiny):
    return ANSWERS[request.param](tiny)


def test_every_answer_prints_within_the_terminal(answer, monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    text = str(answer)
    assert text and not text.endswith("\n")
    assert max(len(line) for line in text.splitlines()) <= 72
    assert "\x1b" not in text


def test_every_answer_shows_itself_in_a_notebook(answer):
    page = answer._repr_html_()
    assert page.startswith("<pre ") and page.endswith("</pre>")


def test_every_answer_is_versioned_json(answer):
    assert json.loads(answer.to_json()) == answer.to_dict()
    assert answer.to_dict()["schema_version"] == 2


def test_every_answer_has_a_short_repr(answer):
    text = repr(answer)
    assert text.startswith(f"<{type(answer).__name__}: ") and text.endswith(">")
    assert len(text) < 120 and "\n" not in text


def test_the_peak_reads_well(tiny):
    text = str(tiny.peak())
    for word in ("cuda:0", "5.00 KiB", "Activation", "layers.0", "aten::mm", "train.py:12"):
        assert word in text
    assert repr(tiny.peak()) == "<PeakAnswer: cuda:0 5.00 KiB>"


def test_units_can_be_chosen(tiny):
    assert "5120 B" in tiny.peak().to_text(units="B")


def test_names_cannot_smuggle_markup_into_a_notebook():
    tape = tidemark.read_text('tape 1\nbegin "<script>&"\nalloc a 512\nend "<script>&"\n')
    page = tape.scopes()._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;&amp;" in page


def test_enums_print_as_the_words_of_the_tape():
    assert str(Category.OptimizerState) == "OptimizerState"
    assert f"{Phase.Backward:>10}" == "  backward"
    assert str(Kind.ScopeBegin) == "begin"
    assert Category.Parameter == 1 and Category(1) is Category.Parameter


def test_parts_of_answers_have_short_reprs(tiny):
    device = tiny.peak().devices[0]
    assert repr(device) == "<DevicePeak: cuda:0 5.00 KiB>"
    assert repr(device.largest[0]) == "<StorageFact: storage 1, 3.00 KiB Activation on cuda:0>"
    assert repr(device.at) == "<When: event 8, step 1, backward, layers.0, aten::mm_backward>"
    assert repr(tiny.timeline().devices[0]) == "<DeviceTimeline: cuda:0 6 points>"
    assert repr(tiny.report()) == "<Overview: 15 events, 2 steps>"
