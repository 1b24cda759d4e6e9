"""Every error says what went wrong, where, and what to try."""

import pickle
from pathlib import Path

import pytest

import tidemark


def failure(call, *args, **options) -> tidemark.Error:
    with pytest.raises(tidemark.Error) as caught:
        call(*args, **options)
    return caught.value


def test_a_missing_file_is_not_found(tmp_path: Path):
    error = failure(tidemark.open, tmp_path / "nothing.tape")
    assert error.code == "not-found"
    assert error.where == str(tmp_path / "nothing.tape")
    assert str(error) == f"{error.where}: {error.message} ({error.hint})"


def test_a_directory_is_unreadable(tmp_path: Path):
    assert failure(tidemark.open, tmp_path).code == "unreadable"


def test_an_empty_file_is_truncated(tmp_path: Path):
    (tmp_path / "empty").touch()
    assert failure(tidemark.open, tmp_path / "empty").code == "truncated"


def test_bytes_that_are_no_tape_are_a_bad_format(tmp_path: Path):
    (tmp_path / "noise").write_bytes(b"\x93TAPE but not really")
    error = failure(tidemark.open, tmp_path / "noise")
    assert error.code in ("bad-format", "truncated") and error.hint


def test_a_syntax_error_has_line_and_column():
    error = failure(tidemark.read_text, "tape 1\nalloc a 12parsecs\n", "run.txt")
    # "alloc" fills columns 1 to 5, "a" is column 7, the size begins at column 9.
    assert (error.code, error.where) == ("bad-format", "run.txt:2:9")


def test_a_folder_that_is_not_there_cannot_be_saved_to(tiny, tmp_path: Path):
    assert failure(tiny.save, tmp_path / "no" / "such" / "run.tape").code == "unreadable"


@pytest.mark.parametrize("name", ["peak", "scopes", "timeline", "lifetimes", "leaks", "report"])
def test_an_unknown_device_is_not_found(tiny, name):
    error = failure(getattr(tiny, name), device="cuda:9")
    assert error.code == "not-found" and "cuda:9" in str(error)


@pytest.mark.parametrize("name", ["peak", "scopes", "timeline", "lifetimes", "report"])
def test_an_unknown_step_is_not_found(tiny, name):
    assert failure(getattr(tiny, name), step=99).code == "not-found"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("peak", {"top": -1}), ("scopes", {"depth": -1}), ("timeline", {"columns": -5}),
        ("timeline", {"by": "bytes"}), ("lifetimes", {"top": -1}), ("leaks", {"top": -1}),
        ("report", {"depth": -2}),
    ],
)
def test_an_impossible_option_is_a_bad_argument(tiny, name, options):
    assert failure(getattr(tiny, name), **options).code == "bad-argument"


def test_unknown_units_and_widths_are_bad_arguments(tiny):
    assert "GiB" in failure(tiny.peak().to_text, units="acres").hint
    assert failure(tiny.peak().to_text, width=0).code == "bad-argument"


def test_options_are_keywords(tiny):
    with pytest.raises(TypeError):
        tiny.peak(3)


def test_an_error_survives_the_way_to_another_process(tmp_path: Path):
    error = failure(tidemark.open, tmp_path / "nothing.tape")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (tidemark.Error, str(error))
    assert (again.code, again.where, again.hint) == (error.code, error.where, error.hint)
