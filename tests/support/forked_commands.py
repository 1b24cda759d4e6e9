"""Runs `python -m tidemark estimate` and `record`, and scripts that track themselves, for tests that ask
for numbers, without the seconds in which each Python imports torch (command_server.py).

It is the same program: the package's __main__ with the same words, folder, environment and streams, in
a process of its own. Not the same are the process's start and Python's very end, so tests of signals,
faults, limits, children, streams and held files start real commands. Real are also the first run of each
folder of tests and verb, and whatever sets variables that torch may read as it is imported. Scripts that import
torch._dynamo without a word of it are forks of a process that has that, too: checkpoints and what is
distributed do it, and where GPUs are not virtual the first use of an optimizer.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

from tidemark.estimation.held_files import environment as environment_that_holds_files

SERVER = Path(__file__).resolve().with_name("command_server.py")
# Read when a run needs them, by tidemark or its script, and by nobody before.
READ_LATE = {"CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_WORKSPACE_SIZE", "PYTEST_CURRENT_TEST", "TMPDIR", "WILD_SCALE"}
VISIBLE_GPUS = "CUDA_VISIBLE_DEVICES"
SLACK_S = 60.0  # beyond a run's time, in which the server answers that it has ended it


class Server:
    """A process with torch, for one verb, and with modules that its scripts import."""

    def __init__(self, verb: str, visible_gpus: str | None, *modules: str) -> None:
        self.environment = environment_that_holds_files() if verb == "estimate" else dict(os.environ)
        if visible_gpus is not None:
            self.environment[VISIBLE_GPUS] = visible_gpus
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), str(theirs.fileno()), verb, *modules], env=self.environment,
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        atexit.register(self.end)

    def run(self, request: dict[str, Any], streams: list[IO[bytes]]) -> int | None:
        """The exit code; None where its time was over."""
        numbers = array.array("i", [stream.fileno() for stream in streams])
        self._line.settimeout(request["timeout"] + SLACK_S)
        try:
            self._line.sendmsg([json.dumps(request).encode()],
                               [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
            answer = self._line.recv(1 << 10)
        except ConnectionError:
            answer = b""
        assert answer, "the server of forked commands has ended; standard error says why"
        code: int | None = json.loads(answer)
        return code

    def end(self) -> None:
        self._line.close()
        self._process.wait(timeout=SLACK_S)


server_of = cache(Server)
_begun: set[tuple[str, str]] = set()


def is_first(verb: str) -> bool:
    """Whether no test of the running one's folder has used this verb yet."""
    one = os.path.dirname(os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]), verb
    return one not in _begun and not _begun.add(one)  # type: ignore[func-returns-value]


def run_command(*words: object, cwd: Path | None = None, timeout: float = 300,
                **variables: str) -> subprocess.CompletedProcess[str]:
    """run_command("estimate", "--json", script): as subprocess.run(..., capture_output=True, text=True)."""
    command = [str(word) for word in words]
    asked = dict(os.environ) | variables
    if not is_first(command[0]) and (done := run_forked(command, cwd, timeout, asked)):
        return done
    return subprocess.run([sys.executable, "-m", "tidemark", *command], cwd=cwd, env=asked, text=True,
                          capture_output=True, timeout=timeout, check=False)


def run_script(script: Path, *arguments: str, cwd: Path, timeout: float = 300,
               **variables: str) -> subprocess.CompletedProcess[str]:
    """As `python SCRIPT ...` does."""
    done = run_forked([str(script), *arguments], cwd, timeout, dict(os.environ) | variables)
    assert done, "a variable is asked for that a process must have from its start"
    return done


def run_forked(command: list[str], cwd: Path | None, timeout: float, asked: dict[str, str],
               modules: Sequence[str] | None = None) -> subprocess.CompletedProcess[str] | None:
    """None, where a variable is asked for that a process must have from its start. The process has these
    modules, and else those that its script is known to import."""
    is_estimate = command[0] == "estimate"
    verb = "script" if command[0].endswith(".py") else command[0]
    if modules is None:
        modules = modules_for(verb, script_of(command, cwd or Path.cwd()))
    server = server_of(verb, "" if is_estimate else asked.get(VISIBLE_GPUS), *modules)
    if is_estimate:  # the package sets both before it imports torch
        asked = asked | {name: server.environment[name] for name in ("LD_PRELOAD", VISIBLE_GPUS)}
    if differing(asked, server.environment) - READ_LATE:
        return None
    request = {"words": command, "folder": str(cwd or Path.cwd()), "environment": asked, "timeout": timeout}
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = server.run(request, [nothing, out, err])
        texts = [read_again(out), read_again(err)]
    if code is None:
        raise subprocess.TimeoutExpired(command, timeout, *texts)
    return subprocess.CompletedProcess(command, code, *texts)


def script_of(command: list[str], folder: Path) -> str:
    """The text of the first word that names a script; nothing, where none does."""
    scripts = [folder / word for word in command if word.endswith(".py")]
    return scripts[0].read_text() if scripts and scripts[0].exists() else ""


def modules_for(verb: str, script: str) -> list[str]:
    words = ["checkpoint", "distributed"]
    if verb != "estimate":
        words += ["torch.optim", "import optim"]
    return ["torch._dynamo"] if any(word in script for word in words) else []


def read_again(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()


def differing(one: dict[str, str], other: dict[str, str]) -> set[str]:
    """Names of variables that only one has, or that have two values."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
