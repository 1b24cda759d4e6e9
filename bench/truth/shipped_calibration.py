"""Writes the calibration that is shipped: of a whole one, the calls that estimates cannot know without it.

    python bench/truth/shipped_calibration.py ALL.json python/tidemark/calibration/h200.json

A call whose results are born in their order, with nothing beside, is what estimates think of every call that
has no rule. It stays where a tenth of its operator's calls are not so: that one is likely to have a rule.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from tidemark.calibration.calibration_file import read_calibration
from tidemark.calibration.pieces import RESULT, Pieces


def is_plain(pieces: Pieces) -> bool:
    return all(kind == RESULT for kind, _ in pieces) and list(pieces) == sorted(pieces)


def main() -> None:
    calibration = read_calibration(Path(sys.argv[1]))
    every = len(calibration.calls)
    seen = Counter(op for op, _ in calibration.calls)
    odd = Counter(op for (op, _), pieces in calibration.calls.items() if not is_plain(pieces))
    calibration.calls = {(op, signature): pieces for (op, signature), pieces in calibration.calls.items()
                         if not is_plain(pieces) or 10 * odd[op] >= seen[op]}
    calibration.write(Path(sys.argv[2]))
    print(f"{len(calibration.calls)} of {every} calls, of {len(odd)} operators")


if __name__ == "__main__":
    main()
