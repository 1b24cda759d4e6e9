"""Calibrations: read back, refused where damaged, and beating the rule where a call was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forked_commands import run_command

import tidemark
from tidemark.calibration.calibration_file import BadCalibration, Calibration, read_calibration
from tidemark.calibration.choice import SHIPPED, choose_calibration
from tidemark.calibration.command import measure
from tidemark.calibration.pieces import pieces_of
from tidemark.calibration.signatures import DeviceText, TensorText, Unreadable, arguments_of
from tidemark.gpus import find_gpu

MIB = 1 << 20
SCRIPT = """
import torch
x = torch.ones(1024, 1024, device="cuda")
for _ in range(3):
    y = torch.relu(x)
"""
CALL = ("aten::relu", "(f32[1024,1024])")


def calibration(calls: dict[tuple[str, str], str]) -> Calibration:
    """Pieces as text."""
    return Calibration("NVIDIA H200", "9.0", "580", "2.11.0", 91900,
                       {call: pieces_of(text) for call, text in calls.items()})


@pytest.mark.parametrize(("text", "expected"), [
    ("()", []),
    ("(f32[8,3])", [TensorText("float32", (8, 3), None, False)]),
    ("(i64[]@cpu) -> i64[]", [TensorText("int64", (), None, True)]),
    ("(bf16[2,4]{1,2}, 2, -1, 0.5)", [TensorText("bfloat16", (2, 4), (1, 2), False), 2, -1, 0.5]),
    ("(None, True, False, 'none', cuda:0)", [None, True, False, "none", DeviceText("cuda:0")]),
    ("([1, 2], [], [f16[1]])", [[1, 2], [], [TensorText("float16", (1,), None, False)]]),
    ("(inf, -inf, 1e-05)", [float("inf"), float("-inf"), 1e-05]),
])
def test_arguments_are_read_back(text: str, expected: list[Any]) -> None:
    assert arguments_of(text) == expected


@pytest.mark.parametrize("text", [
    "", "(", "f32[8]", "(f32[8]", "(f32[8]{1,2})", "(what)", "([f32[1], ... 12])", "(Generator)",
    "('open)", "(q9[3])", "(1 2)", "(,)"])
def test_what_does_not_say_all_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        arguments_of(text)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    for calls in ({}, {CALL: "+7 =0 +5 -1 -0", ("aten::mm", "(f32[1,1], f32[1,1])"): ""}):
        calibration(calls).write(path)
        assert read_calibration(path) == calibration(calls)


def test_a_file_of_the_first_version_is_read(tmp_path: Path) -> None:
    """It had one amount for each call, beside all results."""
    path = tmp_path / "gpu.json"
    calibration({CALL: "+5 -0", ("aten::mm", "(1)"): ""}).write(path)
    facts = json.loads(path.read_text())
    rows = [[*CALL, 5], ["aten::mm", "(1)", 0]]
    path.write_text(json.dumps({**facts, "version": 1, "calls": rows}))
    assert read_calibration(path) == calibration({CALL: "+5 -0", ("aten::mm", "(1)"): ""})


@pytest.mark.parametrize(("damage", "word"), [
    (lambda facts: [], "no calibration"),
    (lambda facts: {**facts, "format": "other"}, "no calibration"),
    (lambda facts: {**facts, "version": 9}, "version 9"),
    (lambda facts: {**facts, "calls": 3}, "damaged"),
    (lambda facts: {**facts, "calls": [["a", "b"]]}, "damaged"),
    (lambda facts: {**facts, "calls": [["a", "b", 5]]}, "damaged"),
    (lambda facts: {**facts, "calls": [["a", "b", "-0"]]}, "damaged"),
    (lambda facts: {**facts, "calls": [["a", 7, ""]]}, "damaged"),
    (lambda facts: {**facts, "version": 1, "calls": [["a", "b", "+5"]]}, "damaged"),
    (lambda facts: {**facts, "version": 1, "calls": [["a", "b", -1]]}, "damaged"),
    (lambda facts: {**facts, "version": 1, "calls": [["a", "b", 1.5]]}, "damaged"),
    (lambda facts: {**facts, "gpu": 3}, "damaged"),
    (lambda facts: {k: v for k, v in facts.items() if k != "cudnn"}, "damaged"),
])
def test_a_damaged_file_is_refused(damage: Callable[[Any], Any], word: str, tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    calibration({CALL: "+5 -0"}).write(path)
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with pytest.raises(BadCalibration, match=word):
        read_calibration(path)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\udcff"])
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadCalibration, match="not JSON"):
        read_calibration(path)


# Of a third round x and the y of the round before are there: 8 MiB, and 4 more when this y is, too.
@pytest.mark.parametrize(("pieces", "peak"), [
    (f"+{100 * MIB} -0", 12 + 100),                      # beside all results
    (f"=0 +{100 * MIB} -0", 12 + 100),
    (f"+{100 * MIB} -0 =0", 8 + 100),                    # gone when the result is born
    (f"+{100 * MIB} =0 -0", 12 + 100),
    (f"+{60 * MIB} -0 +{70 * MIB} -1 =0", 8 + 70),
    (f"+{60 * MIB} +{70 * MIB} -0 =0 -1", 8 + 60 + 70),
    (f"+{60 * MIB} +{70 * MIB} -1 =0 +{80 * MIB}", 12 + 60 + 80),  # what is kept goes with the call
    (f"=5 +{100 * MIB} -0", 12 + 100),                   # a result that there is not
])
def test_pieces_are_taken_in_their_order(pieces: str, peak: int, tmp_path: Path, estimate: Any) -> None:
    script, file = tmp_path / "train.py", tmp_path / "gpu.json"
    script.write_text(SCRIPT)
    calibration({CALL: pieces}).write(file)
    known = estimate("--gpu", "h200", "--calibration", file, script).facts["peak"]["devices"][0]
    assert known["allocated_bytes"] == peak * MIB


def test_a_measured_call_takes_what_was_measured(tmp_path: Path, estimate: Any) -> None:
    script, file = tmp_path / "train.py", tmp_path / "gpu.json"
    script.write_text(SCRIPT)
    calibration({CALL: f"+{100 * MIB} -0"}).write(file)
    plain = estimate("--gpu", "h200", "--calibration", "none", script).facts["peak"]["devices"][0]
    known = estimate("--gpu", "h200", "--calibration", file, script).facts["peak"]["devices"][0]
    # x, y of this round and of the last; and what a round takes inside, with y there.
    assert plain["allocated_bytes"] == 3 * 4 * MIB
    assert known["allocated_bytes"] == (3 * 4 + 100) * MIB
    assert known["categories"]["Workspace"] == 100 * MIB


def test_a_file_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    for name, word in (("missing.json", "No such file"), ("train.py", "not JSON")):
        done = subprocess.run(
            [sys.executable, "-m", "tidemark", "estimate", "--calibration", tmp_path / name, script],
            capture_output=True, text=True, check=False)
        assert done.returncode == 2 and word in done.stderr and "Traceback" not in done.stderr


def test_the_shipped_one_is_for_its_own_kind_of_gpu() -> None:
    assert read_calibration(SHIPPED).gpu == "NVIDIA H200"
    for same, said in (("h200", ""), ("h100", OF_A_TWIN)):
        choice = choose_calibration("", find_gpu(same))
        assert choice.note == said and len(choice.calls) > 1000
    other = choose_calibration("", find_gpu("a100-40gb"))
    assert other.calls == [] and "rules" in other.note
    assert "rules alone" in choose_calibration("none", find_gpu("h200")).note


def test_a_file_of_other_kernels_is_not_used_and_that_is_said(tmp_path: Path) -> None:
    """A generation is not enough: 8.0 and 8.9 differ."""
    replace(calibration({CALL: "+9 -0"}), gpu="NVIDIA A100", capability="8.0").write(tmp_path / "a100.json")
    unused = f"{tmp_path / 'a100.json'} was not used: the kernels of its NVIDIA A100 are others"
    own = choose_calibration(str(tmp_path / "a100.json"), find_gpu("a100-40gb"))
    assert len(own.calls) == 1 and "NVIDIA A100-SXM4-40GB has the same kernels" in own.note
    for gpu in ("rtx4090", "t4"):
        other = choose_calibration(str(tmp_path / "a100.json"), find_gpu(gpu))
        assert other.calls == [] and other.gpu == "" and other.note.endswith(f"has other kernels; {unused}")
    shipped = choose_calibration(str(tmp_path / "a100.json"), find_gpu("h200"))
    assert len(shipped.calls) > 1000 and shipped.note == unused


OF_A_TWIN = ("what operators take inside goes by calls that were measured on another GPU, NVIDIA H200; "
             "NVIDIA H100 80GB HBM3 has the same kernels")
OTHER_KERNELS = ("what operators take inside goes by rules that were measured on another GPU, NVIDIA H200; "
                 "NVIDIA A100-SXM4-40GB has other kernels")


@pytest.mark.parametrize(("options", "said"), [
    (("--gpu", "h200"), None),
    (("--gpu", "h100"), OF_A_TWIN),
    (("--gpu", "a100-40gb"), OTHER_KERNELS),
    (("--gpu", "h100", "--calibration", "none"),
     "what operators take inside goes by rules alone (--calibration none)"),
])
def test_a_report_says_what_it_went_by(options: tuple[str, ...], said: str | None, tmp_path: Path,
                                             estimate: Any) -> None:
    script, tape = tmp_path / "train.py", tmp_path / "run.tape"
    script.write_text(SCRIPT)
    facts = estimate(*options, "--save", tape, script).facts
    notes = [one for one in facts["diagnostics"] if one["code"] == "calibration"]
    assert [(one["severity"], one["message"]) for one in notes] == ([("note", said)] if said else [])
    assert [one.message for one in tidemark.open(tape).diagnostics if one.code == "calibration"] == \
        ([said] if said else [])
    whole = " ".join(run_command("estimate", "--quiet", "--full", *options, script).stdout.split())
    assert (f"note: {said} (calibration)" in whole) if said else ("(calibration)" not in whole)


# The shares that docs/analyses/verdict.md gives for what is modelled, the context, and what else is assumed.
@pytest.mark.parametrize(("gpu", "inside_mib", "measured_on", "modelled", "context"), [
    ("h200", 100, "NVIDIA H200", 15, 17),
    ("h100", 100, "NVIDIA H200", 20, 50),  # the same calls, from another GPU
    ("a100-40gb", 0, None, 20, 50),
])
def test_how_sure_a_budget_is_goes_by_where_calls_were_measured(
        gpu: str, inside_mib: int, measured_on: str | None, modelled: int, context: int, tmp_path: Path,
        estimate: Any) -> None:
    script, file, tape = tmp_path / "train.py", tmp_path / "gpu.json", tmp_path / "run.tape"
    script.write_text(SCRIPT)
    calibration({CALL: f"+{100 * MIB} -0"}).write(file)
    judgement = estimate("--gpu", gpu, "--calibration", file, "--save", tape, script).facts["judgement"]
    assert tidemark.open(tape).meta.get("run.calibrated_on") == measured_on
    budget = {part["name"]: part for part in judgement["budget"]}
    inside = budget.pop("library workspaces", {"bytes": 0, "reason": ""})
    assert inside["bytes"] == inside_mib * MIB
    assert ("as on an H200" in inside["reason"]) == (inside_mib > 0)
    known = inside["bytes"] + sum(part["bytes"] for part in budget.values() if part["evidence"] == "modelled")
    assert judgement["budget_error_bytes"] == pytest.approx(
        (known * modelled + budget["CUDA context"]["bytes"] * context) / 100, abs=400)


def test_a_call_that_ends_its_process_is_told_and_the_next_one_made(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for the process that has the GPU: it dies of one call, and answers the others."""
    program = tmp_path / "program.py"
    program.write_text("""
import json, os, signal, sys
for line in sys.stdin:
    op, signature = json.loads(line)
    if op == "aten::fatal":
        os.kill(os.getpid(), signal.SIGSEGV)
    print(json.dumps("no" if op == "aten::odd" else [["+", len(signature)], ["-", 0]]), flush=True)
""")
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen",
                        lambda command, **pipes: start([sys.executable, str(program)], **pipes))
    machine = calibration({})
    failures = measure(machine, [("aten::relu", "(1)"), ("aten::fatal", "()"), ("aten::odd", "()"),
                                 ("aten::mm", "(12)")], quiet=True)
    assert machine.calls == {("aten::relu", "(1)"): pieces_of("+3 -0"), ("aten::mm", "(12)"): pieces_of("+4 -0")}
    assert failures == {("aten::fatal", "()"): "it ended the process that made it (-11)",
                        ("aten::odd", "()"): "no"}


def test_calibrating_needs_a_gpu() -> None:
    done = subprocess.run([sys.executable, "-m", "tidemark", "calibrate", "any.tape"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a GPU" in done.stderr
