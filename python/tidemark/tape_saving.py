"""Where a run's tape is kept: told before the run whether that can be, and after it what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tidemark


def check_can_save(path: str) -> None:
    """Raises OSError where no tape can be written: a run takes long. An old tape stays, until then."""
    place = Path(path)
    if path and (place.is_file() or place.is_dir() or not place.exists()):
        open(path, "ab").close()


def of_rank(path: str, rank: int, world_size: int) -> str:
    """Ranks of one run write beside each other: run.tape is run.rank3.tape of the fourth of several."""
    place = Path(path)
    if not path or world_size < 2 or (place.exists() and not place.is_file()):
        return path
    return str(place.with_name(f"{place.stem}.rank{rank}{place.suffix}"))


def refusal(path: str, error: OSError) -> str:
    return (f"{path}: cannot write: {error.strerror}\n"
            "  hint: choose a folder that exists and may be written")


def is_text(path: str) -> bool:
    """Whether the name asks for the form that people read."""
    return path.endswith(".txt")


def open_whole(path: Path, unsaved: dict[str, Any] | None) -> tidemark.Tape:
    """The tape of a file, and of what the file could not take and the tracker kept."""
    if unsaved is None:
        return tidemark.open(path)
    begin = b""
    if unsaved["bytes_in_file"]:
        with open(path, "rb") as file:
            begin = file.read(unsaved["bytes_in_file"])
    return tidemark.read_bytes(begin + unsaved["rest"], str(path))


def told(path: str, unsaved: dict[str, Any], events: int) -> str:
    """What to say of a file that was not written to its end."""
    text = (f"{path}: cannot write: {unsaved['problem']}; "
            f"it has the first {unsaved['events_in_file']} of {events} events")
    if unsaved["has_dropped"]:
        return text + ", and the report lacks the last ones, too"
    return text + "; the report has them all"
