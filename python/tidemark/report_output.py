"""Standard output for a report alone, while the user's script writes to standard error."""

from __future__ import annotations

import errno
import os
import sys

COULD_NOT_RUN = 2
USUAL_WIDTH, LEAST_WIDTH = 80, 40


class ReportOutput:
    """Keeps standard output to itself, until the process ends.

    Whatever else writes there, by Python's stream or by the descriptor, reaches standard error: the
    script, its threads and exit handlers, libraries in C, child processes.
    """

    def __init__(self) -> None:
        """Raises OSError where standard output is closed."""
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w", encoding="utf-8")
            os.dup2(sys.stderr.fileno(), 2)
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        self._descriptor = os.dup(1)  # closed in programs that are started from here
        self._encoding = sys.stdout.encoding
        is_terminal = sys.stdout.isatty()
        self.width = terminal_width() if is_terminal else USUAL_WIDTH
        self.colour = (is_terminal and not os.environ.get("NO_COLOR")
                       and os.environ.get("TERM") != "dumb")
        sys.stdout.flush()
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    def write(self, text: str) -> bool:
        """Whether all of it was written; if not, standard error says why.

        A reader that has seen enough is no failure.
        """
        rest = text.encode(self._encoding, "replace")
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest):]
        except OSError as error:
            if error.errno == errno.EPIPE:
                return True
            tell_unwritten(error)
            return False
        return True


def terminal_width() -> int:
    """As the commands in C++ find it."""
    told = os.environ.get("COLUMNS", "")
    width = os.get_terminal_size(1).columns or (int(told) if told.isdecimal() else 0)
    return max(width, LEAST_WIDTH) if width else USUAL_WIDTH


def take_standard_output() -> ReportOutput | None:
    """Called before the script runs, which may take long; None, and a sentence, where it is closed."""
    try:
        return ReportOutput()
    except OSError as error:
        tell_unwritten(error)
        return None


def tell_unwritten(error: OSError) -> None:
    hint = "  hint: is the disk full?\n" if error.errno == errno.ENOSPC else ""
    sys.stderr.write(f"tidemark: standard output: cannot write: {error.strerror}\n{hint}")


def flush_standard_output() -> bool:
    """For what argparse printed: whether it could be written; if not, standard error says why."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return give_up_standard_output(error)
    return True


def give_up_standard_output(error: OSError) -> bool:
    """Says why nothing more can be written; whether that is well: a reader has seen enough."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python would try again at its end
    if error.errno == errno.EPIPE:
        return True
    tell_unwritten(error)
    return False
