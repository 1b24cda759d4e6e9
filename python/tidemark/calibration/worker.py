"""Makes calls on the GPU in a process of its own: some kernels end it, given zeros, without a word."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import IO

from tidemark.calibration.pieces import Pieces


class Worker:
    """Starts again after a call that was its last."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, op: str, signature: str) -> Pieces | str:
        """What the call takes beyond its results, or why it cannot be made."""
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps([op, signature]) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._process = None
            return f"it ended the process that made it ({process.wait()})"
        told = json.loads(answer)
        return told if isinstance(told, str) else tuple((kind, value) for kind, value in told)

    def close(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()
        self._process = None

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen([sys.executable, "-m", "tidemark.calibration.worker"],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self._process


def serve(questions: IO[str], answers: IO[str]) -> None:
    from tidemark.calibration.calls_on_gpu import CannotCall, pieces_on_gpu

    for line in questions:
        op, signature = json.loads(line)
        try:
            answer: Pieces | str = pieces_on_gpu(op, signature)
        except CannotCall as problem:
            answer = str(problem)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
