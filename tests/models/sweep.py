"""Trains model types of transformers on the CPU and on virtual GPUs, each in a process of its own.

    python tests/models/sweep.py --types llama,bert --jobs 2 --json out.json --markdown table.md

A type counts if its small configuration trains on the CPU. torch and transformers are imported
once and every type is forked from there, so it costs little more than its own training.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import tidemark
from tidemark.virtual_cuda import load  # noqa: E402

load()  # before torch

import torch  # noqa: E402
import training  # noqa: E402
import transformers  # noqa: E402
from forked import run_forked  # noqa: E402
from small_configs import small_config  # noqa: E402
from sweep_table import good_enough, markdown_table, summary  # noqa: E402
from tidemark.estimation.options import EstimateOptions  # noqa: E402
from tidemark.estimation.run import run_estimate  # noqa: E402
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES  # noqa: E402


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--types", default="", help="comma-separated; all where left out")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each training")
    parser.add_argument("--cpu-only", action="store_true", help="only ask which types count")
    parser.add_argument("--json", default="", help="write the results here")
    parser.add_argument("--markdown", default="", help="write the table here")
    return parser.parse_args(arguments)


def on_virtual_gpu(model_class: type[torch.nn.Module], model_type: str) -> dict[str, Any]:
    """Trains as `tidemark estimate` runs scripts: modules, optimizers and steps are followed."""
    facts: dict[str, Any] = {}
    errors: list[BaseException] = []

    def program() -> None:
        try:
            facts.update(training.train(model_class, model_type, "cuda"))
        except BaseException as error:
            errors.append(error)

    outcome = run_estimate(EstimateOptions(steps=0, quiet=True), program)
    for error in errors:
        raise error
    report = outcome.report(top=1, depth=0)
    facts["peak"] = report.peak.devices[0].allocated_bytes
    check_answer(facts, report)
    return facts


def check_answer(facts: dict[str, Any], answer: tidemark.Overview) -> None:
    """Weights, two moments and one gradient at least: a peak below that would be a lie."""
    if facts["trained"] == facts["tensors"] and facts["peak"] < 4 * 2 * facts["elements"]:
        raise RuntimeError(f"the peak of {facts['peak']} bytes cannot be true")
    if answer.run.steps != training.STEPS:
        raise RuntimeError(f"{answer.run.steps} steps were seen of {training.STEPS}")
    if not any(calls.phase == tidemark.Phase.Forward for scope in answer.scopes.scopes
               for calls in scope.phases):
        raise RuntimeError("no module was seen in a forward")


def try_type(model_type: str, timeout: float, cpu_only: bool) -> dict[str, Any]:
    """Finds the first class that trains on the CPU, then trains it on a virtual GPU."""
    result: dict[str, Any] = {"type": model_type, "cpu": {"error": "no class takes it"}}
    for model_class in training.candidate_classes(small_config(model_type)):
        answer = run_forked(lambda c=model_class: training.train(c, model_type, "cpu"), timeout)
        if "error" not in answer or "error" in result["cpu"]:
            result["cpu"] = answer
        if "error" not in answer:
            break
    if "error" not in result["cpu"] and not cpu_only:
        result["phantom"] = run_forked(lambda: on_virtual_gpu(model_class, model_type), timeout)
    return result


def try_types(types: list[str], options: argparse.Namespace, log: int) -> None:
    """One worker's share; each result is a line in the common log as soon as it is there."""
    for model_type in types:
        result = run_forked(
            lambda t=model_type: try_type(t, options.timeout, options.cpu_only),
            4 * options.timeout,
        )
        if "error" in result:
            result = {"type": model_type, "cpu": result}
        os.write(log, (json.dumps(result) + "\n").encode())


def import_what_all_need() -> None:
    """Done once here instead of in every child: what a first model and a first step import."""
    import torch._dynamo
    import torch._meta_registrations  # noqa: F401

    for model_type in ("llama", "bart", "vit", "mixtral", "whisper"):
        list(training.candidate_classes(small_config(model_type)))


def sweep(types: list[str], options: argparse.Namespace) -> list[dict[str, Any]]:
    log_path = Path(options.json + ".log") if options.json else Path(tempfile.mkstemp()[1])
    log = os.open(log_path, os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_WRONLY)
    workers = []
    for i in range(options.jobs):
        worker = os.fork()
        if worker == 0:
            try_types(types[i :: options.jobs], options, log)
            os._exit(0)
        workers.append(worker)
    for worker in workers:
        os.waitpid(worker, 0)
    lines = log_path.read_text().splitlines()
    return sorted((json.loads(line) for line in lines), key=lambda result: result["type"])


def main() -> int:
    options = parse_arguments()
    os.environ["HF_HUB_OFFLINE"] = "1"
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    import_what_all_need()
    types = options.types.split(",") if options.types else list(MODEL_MAPPING_NAMES)
    results = sweep(types[: options.limit or None], options)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    if options.markdown:
        Path(options.markdown).write_text(markdown_table(results))
    print(summary(results))
    return 0 if options.cpu_only or good_enough(results) else 1


if __name__ == "__main__":
    sys.exit(main())
