"""Records what a real GPU answers to the calls of operator_samples: python record_on_gpu.py FILE.

One line a call. A call that breaks the GPU's context ends the program with 3; started again, it
goes on with the next one. `--keep FILE` makes cuda_answers.json of a record: what differs from
the answers of the CPU.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import islice
from typing import Any

import torch
from calls import Call, Place, run
from cuda_answers import ANSWERS, as_json, fingerprint

CONTEXT_LOST = 3


def answer(call: Call) -> Any:
    on_cpu = run(call, Place("cpu"))
    if on_cpu.error:
        return {"cpu_error": on_cpu.error[:100]}
    on_gpu = run(call, Place("cuda"))
    torch.cuda.synchronize()
    if on_gpu.error:
        return {"cuda_error": on_gpu.error[:100]}
    return "as CPU" if as_json(on_cpu) == as_json(on_gpu) else as_json(on_gpu)


def keep(path: str) -> int:
    lines = [json.loads(line) for line in open(path)]
    facts = lines.pop()
    answers = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps([mark, what])}"
        for name, mark, what in lines
        if what != "as CPU" and "results" in what
    )
    head = "".join(f" {json.dumps(name)}: {json.dumps(fact)},\n" for name, fact in facts.items())
    ANSWERS.write_text(f"{{\n{head} \"answers\": {{\n{answers}\n }}\n}}\n")
    return 0


def record(path: str) -> int:
    from operator_samples import SEED, choose_calls

    done = sum(1 for _ in open(path)) if os.path.exists(path) else 0
    with open(path, "a") as file:
        for call in islice(choose_calls(), done, None):
            try:
                what, lost = answer(call), False
            except RuntimeError as error:
                what, lost = {"context_lost": str(error)[:100]}, True
            print(json.dumps([str(call), fingerprint(call), what]), file=file, flush=True)
            if lost:
                return CONTEXT_LOST
        facts = {
            "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
            "cuda": torch.version.cuda, "seed": SEED,
        }
        print(json.dumps(facts), file=file)
    return 0


if __name__ == "__main__":
    sys.exit(keep(sys.argv[2]) if sys.argv[1] == "--keep" else record(sys.argv[1]))
