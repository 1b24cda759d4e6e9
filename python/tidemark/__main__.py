"""python -m tidemark VERB ...: runs a verb; those that read tapes are the tidemark program's."""

import os
import sys
import sysconfig
from pathlib import Path

from tidemark.report_output import flush_standard_output, give_up_standard_output
from tidemark.torch_match import WrongTorch

USAGE_ERROR = 2


def find_program() -> Path | None:
    """The program that was installed with this package: in the environment, or by pip --user."""
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    for scheme in schemes:
        program = Path(sysconfig.get_path("scripts", scheme)) / "tidemark"
        if program.is_file() and os.access(program, os.X_OK):
            return program
    return None


def main() -> int:
    if sys.argv[1:2] == ["estimate"]:
        from tidemark.estimation.held_files import CannotHoldFiles, start_with_library

        try:
            start_with_library()
        except CannotHoldFiles as refused:
            print(f"tidemark: {refused}", file=sys.stderr)
            return USAGE_ERROR
        from tidemark.estimation.command import main as estimate

        return estimate(sys.argv[2:])
    if sys.argv[1:2] == ["record"]:
        from tidemark.recording.command import main as record

        return record(sys.argv[2:])
    if sys.argv[1:2] == ["calibrate"]:
        from tidemark.calibration.command import main as calibrate

        return calibrate(sys.argv[2:])
    program = find_program()
    if program is None:
        print(
            "tidemark: the tidemark program is not in this environment "
            "(install CLI11 and fmt, then: pip install --no-build-isolation .)",
            file=sys.stderr,
        )
        return USAGE_ERROR
    sys.stdout.flush()
    os.execv(program, [str(program), *sys.argv[1:]])


def run() -> int:
    try:
        code = main()
    except WrongTorch as refused:
        print(f"tidemark: {refused}", file=sys.stderr)
        return USAGE_ERROR
    except SystemExit as ended:  # argparse's, after help or a wrong flag
        code = ended.code if isinstance(ended.code, int) else USAGE_ERROR
    except OSError as error:  # argparse's, where help cannot be written
        give_up_standard_output(error)
        return USAGE_ERROR
    return code if flush_standard_output() else USAGE_ERROR


if __name__ == "__main__":
    sys.exit(run())
