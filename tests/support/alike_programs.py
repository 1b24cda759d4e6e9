"""Small programs that begin alike: the beginning runs once, and each goes on in a fork of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

# Tells of each program its exit code and what it wrote to standard error.
EACH_IN_A_FORK = """
import json, os, sys, tempfile
told = []
for program in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(errors.fileno(), 2)
                exec(program)
                code = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        told.append((code, errors.read().decode()))
print(json.dumps(told))
"""


def ends_of(beginning: str, programs: Sequence[str], timeout: float = 120) -> list[tuple[int, str]]:
    """The exit code and standard error of each."""
    done = subprocess.run([sys.executable, "-c", beginning + EACH_IN_A_FORK, json.dumps(programs)],
                          capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return [(code, errors) for code, errors in json.loads(done.stdout)]
