"""On a real GPU: the peak of a recorded tape beside what torch.cuda counted, in bytes.

    python bench/record_on_gpu.py [--only NAME ...] > tests/golden/gpu/recorded-h200-torch2.11.json
    python bench/record_on_gpu.py --small tests/data/recorded

Each run of bench/truth is recorded in a process of its own, without and with what lives only inside
operators; `late` are runs that are followed from the middle on. --small keeps the text of small tapes.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpu_machine import machine

HERE = Path(__file__).resolve().parent
RUNS = HERE / "truth" / "runs"
USUAL = ("gpt2_fp32", "resnet50_fp32", "lstm_language_model", "llama_bf16", "odd_shapes", "speech_ctc",
         "moe_token_choice", "gan_two_optimizers")
SETTINGS = ("", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4")
VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"


def run_script(name: str) -> None:
    sys.path.insert(0, str(RUNS))
    runpy.run_path(str(RUNS / f"{name}.py"), run_name="__main__")


def small_program() -> Callable[[], None]:
    """Two steps of a model whose tensors have odd sizes, some of them above 1 MiB."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 9, 3), nn.ReLU(), nn.Flatten(), nn.Linear(9 * 62 * 62, 77),
                          nn.ReLU(), nn.Linear(77, 5)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    images = torch.rand(37, 3, 64, 64, device="cuda")

    def train() -> None:
        for _ in range(2):
            model(images).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    return train


def followed(program: Callable[[], None], **options: Any) -> dict[str, Any]:
    """What the tape says of the program's peak, and what PyTorch counted."""
    import tidemark
    import torch

    tracking = tidemark.track(**options)
    if torch.cuda.is_initialized():
        torch.cuda.reset_peak_memory_stats()
    began = time.monotonic()
    with tracking:
        program()
        torch.cuda.synchronize()
    seconds = time.monotonic() - began
    live = tracking.peak.get("cuda:0", {}).get("total", 0)
    facts = tracking.facts()
    device = next(one for one in facts["peak"]["devices"] if one["device"] == "cuda:0")
    return {"torch_allocated": torch.cuda.max_memory_allocated(),
            "torch_reserved": torch.cuda.max_memory_reserved(),
            "tape_allocated": device["allocated_bytes"], "tape_requested": device["requested_bytes"],
            "told_reserved": facts["judgement"]["max_reserved_bytes"], "live_allocated": live,
            "categories": {name: size for name, size in device["categories"].items() if size},
            "notes": [one["code"] for one in facts["diagnostics"]], "events": facts["events"],
            "seconds": round(seconds, 2)}


def child(way: str, name: str) -> dict[str, Any]:
    if way == "late":
        train = small_program()
        train()
        return followed(train)
    if name == "small":
        return followed(lambda: small_program()(), operators=way == "operators")
    return followed(lambda: run_script(name), operators=way == "operators")


def measured(way: str, name: str, settings: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {"way": way, "run": name, "settings": settings}
    done = subprocess.run([sys.executable, __file__, "--child", way, name], capture_output=True, text=True,
                          check=False, env=os.environ | ({VARIABLE: settings} if settings else {}))
    told = [line for line in done.stdout.splitlines() if line.startswith('{"torch_allocated"')]
    row |= json.loads(told[-1]) if told else {"error": done.stderr[-1500:]}
    return row


def measure_all(names: list[str]) -> None:
    rows = [measured("late", "small")]
    rows += [measured(way, "small", settings) for way in ("birth", "operators") for settings in SETTINGS]
    rows += [measured(way, name) for name in names for way in ("birth", "operators")]
    for row in rows:
        missed = row.get("torch_allocated", -1) - row.get("tape_allocated", 0)
        print(f"{row['run']:24} {row['way']:10} {row['settings']:28} {missed:+d} bytes missed"
              + (f"  FAILED {row['error']}" if "error" in row else ""), file=sys.stderr)
    lines = ",\n".join(json.dumps(row) for row in rows)
    print(f'{{"machine": {json.dumps(machine())},\n"rows": [\n{lines}\n]}}')


def keep_small(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    row = followed(lambda: small_program()(), save=str(folder / "small.txt"))
    (folder / "small.json").write_text(json.dumps(machine() | row, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(USUAL))
    parser.add_argument("--small", type=Path)
    parser.add_argument("--child", nargs=2)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(*arguments.child)))
    elif arguments.small:
        keep_small(arguments.small)
    else:
        measure_all(arguments.only)


if __name__ == "__main__":
    main()
