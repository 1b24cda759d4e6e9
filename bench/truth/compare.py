"""Estimates the runs where no GPU is seen, and compares with what a real one needed.

    python bench/truth/compare.py --real tests/golden/gpu/h200-torch2.11.json [--only NAME ...] [--check]
    python bench/truth/compare.py --real tests/golden/gpu/h200-torch2.11.json --page docs/accuracy.md
    python bench/truth/compare.py --real tests/golden/gpu/h200-torch2.11-held-out.json --list held_out \
        --calibration none --page docs/accuracy.md
    python bench/truth/compare.py --real tests/golden/gpu/h200-torch2.11-strangers.json --list strangers

Without `--real` the estimates alone are shown. Peaks of allocated and of requested bytes are what torch.cuda
tells in both runs; reserved bytes are compared with the budget less the CUDA context, and what the device has
in use with the whole budget. `--check` fails where a run, or the mean of a whole list, is outside of tolerances.py.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from accuracy_page import markdown, marks_of, sentences, write_between
from boundaries import told_in
from comparison import compared
from comparison_table import table
from run_list import RUNS, add_choice, chosen, script_of
from tolerances import needless, verdict_on

BOUNDARIES = str(Path(__file__).resolve().parent / "boundaries.py")


def estimated(name: str, gpu: str, calibration: str) -> dict[str, Any]:
    """The budget, what the report notes, and what torch.cuda told at each boundary; or why there is none."""
    command = [sys.executable, "-m", "tidemark", "estimate", "--json", "--quiet", "--gpu", gpu, "--steps", "0",
               "--calibration", calibration,
               BOUNDARIES, str(script_of(name))]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    if done.returncode not in (0, 1):
        return {"error": f"exit code {done.returncode}: {done.stderr[-1500:]}"}
    facts = json.loads(done.stdout)
    return {"budget": {part["name"]: part["bytes"] for part in facts["judgement"]["budget"]},
            "diagnostics": sorted({one["code"] for one in facts["diagnostics"]}), **told_in(done.stderr)}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--real", type=Path, help="what measure.py wrote")
    add_choice(parser)
    parser.add_argument("--out", type=Path, help="the comparison as JSON")
    parser.add_argument("--page", type=Path, help="a page whose table is replaced; with --real")
    parser.add_argument("--check", action="store_true", help="fail where a run is outside of tolerances.py")
    parser.add_argument("--gpu", default="h200", help="the virtual GPU, h200 by default")
    parser.add_argument("--calibration", default="", metavar="FILE",
                        help="instead of the one that is shipped; none: by rules alone")
    parser.add_argument("--jobs", type=int, default=1, help="estimates at a time, 1 by default")
    arguments = parser.parse_args()
    if (arguments.page or arguments.check) and not arguments.real:
        parser.error("--page and --check need --real, the file that measure.py wrote")
    return arguments


def main() -> int:
    arguments = parse()
    names = chosen(arguments)
    golden = json.loads(arguments.real.read_text(encoding="utf-8")) if arguments.real else {"runs": {}}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        estimates = pool.map(lambda name: estimated(name, arguments.gpu, arguments.calibration), names)
        rows = [compared(name, told, golden["runs"].get(name)) for name, told in zip(names, estimates)]
    print(table(rows))
    if arguments.out:
        facts = {"real": golden.get("machine"), "gpu": arguments.gpu, "rows": rows}
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    if arguments.page:
        by_rules = arguments.list == RUNS and arguments.calibration == "none"
        told = markdown(rows, golden["machine"]) + ("" if by_rules else sentences(rows))
        write_between(arguments.page, marks_of(arguments.list, arguments.calibration), told)
    outside = verdict_on(rows, not arguments.only) if arguments.check else ""
    if arguments.check:
        print("", *(f"{name}: inside, its entry in tolerances.py can go" for name in needless(rows)), outside, sep="\n")
    return 1 if outside or any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
