"""Reports fold the layers of deep models."""

from __future__ import annotations

from tidemark.reporting.folding import Folded, fold


def layers(count: int) -> list[str]:
    return ["Net", "Net.blocks", *(f"Net.blocks.{i}" for i in range(count)), "Net.head"]


def test_few_layers_are_shown_whole() -> None:
    assert list(fold(layers(4))) == layers(4)


def test_of_many_the_first_and_the_last_are_shown() -> None:
    assert list(fold(layers(48))) == [
        "Net", "Net.blocks", "Net.blocks.0", Folded("Net.blocks", 46), "Net.blocks.47", "Net.head"]


def test_what_is_below_goes_with_its_layer() -> None:
    paths = [path for i in range(6) for path in (f"Net.{i}", f"Net.{i}.linear")]
    assert list(fold(paths)) == [
        "Net.0", "Net.0.linear", Folded("Net", 4), "Net.5", "Net.5.linear"]


def test_each_list_is_folded_by_itself_and_inside_of_others() -> None:
    """Eight experts in each of two layers: no layer is hidden, six experts of each are."""
    paths = [path for i in range(2)
             for path in (f"Net.{i}", *(f"Net.{i}.experts.{j}" for j in range(8)))]
    assert [one for one in fold(paths) if isinstance(one, Folded)] == [
        Folded("Net.0.experts", 6), Folded("Net.1.experts", 6)]


def test_experts_of_hidden_layers_are_not_told_again() -> None:
    paths = [path for i in range(6)
             for path in (f"Net.{i}", *(f"Net.{i}.experts.{j}" for j in range(8)))]
    assert [one for one in fold(paths) if isinstance(one, Folded)] == [
        Folded("Net.0.experts", 6), Folded("Net", 4), Folded("Net.5.experts", 6)]


def test_numbers_at_the_top_and_no_modules_at_all() -> None:
    assert list(fold([])) == []
    assert list(fold([str(i) for i in range(6)])) == ["0", Folded("", 4), "5"]
