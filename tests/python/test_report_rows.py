"""Rows of a report's text: in the order of its JSON, and what stands for those that are not shown."""

import re

import pytest

import tidemark

TAPE = """\
tape 1
device cuda:0
begin net
begin net.10
alloc a 1KiB Parameter scope=net.10
end net.10
begin net.2
alloc b 4KiB Gradient scope=net.2
end net.2
end net
begin head
alloc c 2KiB Activation scope=head
end head
"""


def section(text: str, title: str) -> list[str]:
    """The lines between the section's heading and the next blank one."""
    return text.partition(f"\n{title}")[2].partition("\n\n")[0].splitlines()[1:]


def tree(sizes: dict[str, str]) -> tidemark.Tape:
    """A model `net` with these children, each of which owns as many bytes."""
    calls = (f"begin net.{name}\nalloc {name} {size} Activation scope=net.{name}\nend net.{name}\n"
             for name, size in sizes.items())
    return tidemark.read_text("tape 1\ndevice cuda:0\nbegin net\n" + "".join(calls) + "end net\n")


def module_rows(tape: tidemark.Tape, detail: str = "brief") -> list[tuple[str, ...]]:
    """Name with its indentation, bytes and share of each row."""
    lines = section(tape.report().to_text(detail=detail), "By module")[1:]
    cells = [re.split(r"(?<=\S) {2,}", line) for line in lines]
    return [(name.removeprefix("  "), *numbers[:2]) for name, *numbers in cells]


def test_categories_come_by_bytes_in_text_and_json() -> None:
    report = tidemark.read_text(TAPE).report()
    (device,) = report.to_dict()["peak"]["devices"]
    shown = [line.split()[0] for line in section(str(report), "What the peak is made of")]
    assert shown == list(device["categories"]) == ["Gradient", "Activation", "Parameter"]


def test_modules_come_in_one_order_in_text_and_json() -> None:
    tape = tidemark.read_text(TAPE)
    facts = tape.report().to_dict()
    paths = ["head", "net", "net.2", "net.10"]
    assert [one["path"] for one in facts["scopes"]["scopes"]] == paths
    assert [one["scope"] for one in facts["peak"]["devices"][0]["modules"]] == paths
    assert [name for name, *_ in module_rows(tape)] == ["head", "net", "  2", "  10"]


@pytest.mark.parametrize("detail", ["brief", "modules"])
def test_layers_between_the_first_and_the_last_are_one_row_with_their_bytes(detail: str) -> None:
    layers = tree({str(n): f"{1 << n}KiB" for n in range(5)})
    assert module_rows(layers, detail) == [
        ("net", "31.00 KiB", "100.0%"),
        ("  0", "1.00 KiB", "3.2%"),
        ("  … 3 more", "14.00 KiB", "45.2%"),
        ("  4", "16.00 KiB", "51.6%"),
    ]


def test_modules_below_a_percent_are_one_row_with_their_bytes() -> None:
    children = tree({"body": "1022KiB", "drop": "2KiB", "head": "512KiB", "norm": "4KiB"})
    assert module_rows(children) == [
        ("net", "1.50 MiB", "100.0%"),
        ("  body", "1022.00 KiB", "66.4%"),
        ("  … 2 more", "6.00 KiB", "0.4%"),
        ("  head", "512.00 KiB", "33.2%"),
    ]


def test_an_owner_whose_children_have_no_room_says_that_there_are_some() -> None:
    children = {name: "1KiB" for name in "abcdefgh"}
    assert module_rows(tree(children)) == [("net …", "8.00 KiB", "100.0%")]


def test_full_detail_has_a_row_for_every_module() -> None:
    layers = tree({str(n): "1KiB" for n in range(12)})
    assert [name for name, *_ in module_rows(layers, "full")] == ["net", *(f"  {n}" for n in range(12))]


def test_a_share_too_small_to_see_has_no_bar() -> None:
    tape = tidemark.read_text("tape 1\ndevice cuda:0\nalloc a 4GiB Parameter\nalloc b 512 Gradient\n")
    most, least = section(str(tape.report()), "What the peak is made of")
    assert most.endswith("█")
    assert least.split() == ["Gradient", "512", "B", "<0.1%"]
