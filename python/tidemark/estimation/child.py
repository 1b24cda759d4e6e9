"""A program that an estimated script has started: python -m tidemark.estimation.child FOLDER PROGRAM"""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

from tidemark.estimation.children import OPTIONS
from tidemark.estimation.options import EstimateOptions
from tidemark.estimation.run import run_estimate
from tidemark.run_facts import tell


def main() -> int:
    folder, program = Path(sys.argv[1]), sys.argv[2:]
    is_module = program[0] == "-m"
    script, *arguments = program[1:] if is_module else program
    told: EstimateOptions = pickle.loads((folder / OPTIONS).read_bytes())
    options = replace(told, script=script, arguments=arguments, module=is_module)
    outcome = run_estimate(options, note=f"the report is of a process that the script started: "
                                         f"{Path(script).name}")
    if folder.exists():  # whoever started it may have ended before
        (folder / f"{os.getpid()}.tape").write_bytes(outcome.data)
    tell(outcome.ending)
    return outcome.ending.exit_code


if __name__ == "__main__":
    sys.exit(main())
