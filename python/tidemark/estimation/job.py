"""The fresh process of tidemark.estimate: python -m tidemark.estimation.job JOB ANSWER"""

from __future__ import annotations

import pickle
import runpy
import sys
from pathlib import Path
from types import ModuleType

from tidemark.estimation.function import Job, Told
from tidemark.estimation.held_files import HeldFiles
from tidemark.estimation.run import run_estimate


def call(job: Job) -> None:
    """Runs with the virtual GPUs on, so that the function's module finds them when it is imported."""
    sys.path[:] = job.path
    if job.main_file:
        main = ModuleType("__main__")
        main.__dict__.update(runpy.run_path(job.main_file, run_name="__tidemark_main__"))
        sys.modules["__main__"] = main
    function, arguments = pickle.loads(job.program)
    function(*arguments)


def main() -> None:
    question, answer = sys.argv[1:]
    job: Job = pickle.loads(Path(question).read_bytes())
    try:
        files = HeldFiles([answer, job.options.save])
        outcome = run_estimate(job.options, lambda: call(job), files=files)
        told = Told(outcome.data, outcome.ending.traceback if outcome.ending.failed else "")
    except (RuntimeError, OSError) as error:
        told = Told(b"", str(error))
    Path(answer).write_bytes(pickle.dumps(told))


if __name__ == "__main__":
    main()
