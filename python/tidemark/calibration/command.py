"""The command `tidemark calibrate`: from tapes or a script to a calibration of this machine's GPU."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import tidemark
from tidemark.calibration.calibration_file import BadCalibration, Calibration, read_calibration
from tidemark.calibration.options import CalibrateOptions, parse_options
from tidemark.calibration.worker import Worker
from tidemark.own_folder import OwnFolder

DONE, COULD_NOT = 0, 2


class Refused(Exception):
    """What stands in the way, in a sentence."""


def main(arguments: list[str]) -> int:
    options = parse_options(arguments)
    try:
        calibrate(options)
    except (Refused, BadCalibration) as refused:
        print(f"tidemark: {refused}", file=sys.stderr)
        return COULD_NOT
    except OSError as error:
        print(f"tidemark: {error.filename or options.out}: {error.strerror}", file=sys.stderr)
        return COULD_NOT
    return DONE


def calibrate(options: CalibrateOptions) -> None:
    machine = this_machine()
    out = Path(options.out)
    if out.exists():
        known = read_calibration(out)
        if (known.gpu, known.driver, known.torch, known.cudnn) != (
                machine.gpu, machine.driver, machine.torch, machine.cudnn):
            raise Refused(f"{out}: of another machine ({known.gpu}, torch {known.torch}); "
                          "name another file with --out")
        machine.calls = known.calls
    calls = [call for call in calls_of(options) if call not in machine.calls]
    failures = measure(machine, calls, options.quiet)
    machine.write(out)
    print(f"{out}: {len(machine.calls)} calls on {machine.gpu}, {len(calls) - len(failures)} of them new")
    if failures:
        first = next(iter(failures.items()))
        print(f"tidemark: {len(failures)} calls could not be made again, the first: "
              f"{first[0][0]}: {first[1]}", file=sys.stderr)


def this_machine() -> Calibration:
    import torch

    if not torch.cuda.is_available():
        raise Refused("calibrating needs a GPU, and PyTorch sees none here; an estimate without a "
                      "calibration goes by rules")
    cudnn: Any = torch.backends.cudnn  # torch does not type it
    properties = torch.cuda.get_device_properties(0)
    return Calibration(properties.name, f"{properties.major}.{properties.minor}", driver_version(),
                       torch.__version__, cudnn.version() or 0)


def driver_version() -> str:
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                               capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.splitlines()[0].strip() if asked.stdout else ""


def calls_of(options: CalibrateOptions) -> list[tuple[str, str]]:
    """Every distinct call, operator and arguments, without what it returned."""
    if options.tapes:
        return calls_on_tapes(options.tapes)
    with OwnFolder() as folder:
        tape = str(folder / "estimate.tape")
        estimated = subprocess.run(
            [sys.executable, "-m", "tidemark", "estimate", "--quiet", "--save", tape, options.source,
             *options.rest], stdout=subprocess.DEVNULL, check=False,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        if not Path(tape).exists():
            raise Refused(f"{options.source} could not be estimated (exit code {estimated.returncode})")
        return calls_on_tapes([tape])


def calls_on_tapes(tapes: list[str]) -> list[tuple[str, str]]:
    calls: dict[tuple[str, str], None] = {}
    for path in tapes:
        try:
            tape = tidemark.open(path)
        except tidemark.Error as problem:
            raise Refused(str(problem)) from problem
        calls |= {(op, without_results(signature)): None
                  for op, signature in tape.tables.calls if signature.startswith("(")}
    if not calls:
        raise Refused("no call of an operator is on these tapes; tapes of `estimate` have them")
    return list(calls)


def without_results(signature: str) -> str:
    return signature.split(" -> ")[0]


def measure(machine: Calibration, calls: list[tuple[str, str]],
            quiet: bool) -> dict[tuple[str, str], str]:
    """Adds what each took; those that could not be made, and why."""
    failures = {}
    worker = Worker()
    told = time.monotonic()
    for number, (op, signature) in enumerate(calls):
        answer = worker.ask(op, signature)
        if isinstance(answer, str):
            failures[op, signature] = answer
        else:
            machine.calls[op, signature] = answer
        if not quiet and time.monotonic() - told > 1:
            told = time.monotonic()
            print(f"tidemark: {number + 1} of {len(calls)} calls", file=sys.stderr)
    worker.close()
    return failures
