"""Traces of PyTorch's profiler through the command: what they become, and how bad ones end."""

import gzip
import json
import re
from pathlib import Path

import pytest
from hand_trace import memory, module, operator, out_of_memory, region, span, trace

KIB = 1024
DATA = Path(__file__).parents[1] / "data/traces"


def tape_of(tidemark, path, *flags):
    done = tidemark("convert", path, "-", *flags)
    assert done.returncode == 0, done.stderr
    return [line.strip() for line in done.stdout.splitlines()]


def rows(lines, *words):
    """The lines that begin with these words, without their times."""
    plain = [re.sub(r"^@\d+ +", "", line) for line in lines]
    return [line for line in plain if line.split(" ")[0] in words]


def test_births_deaths_and_what_was_there_before(write, tidemark):
    path = write(trace(memory(10, 0xA, 2 * KIB, 10 * KIB), memory(20, 0xB, KIB, 11 * KIB),
                       memory(30, 0xA, -2 * KIB, 9 * KIB), memory(40, 0xC, -3 * KIB, 6 * KIB)),
                 "t.json")
    lines = tape_of(tidemark, path)
    # 10 KiB after the first event of 2 KiB: 8 KiB were there, of which 3 KiB are freed at the end.
    assert rows(lines, "alloc", "free", "resize") == [
        "alloc s0 8192", "alloc s1 2048", "alloc s2 1024", "free s1", "resize s0 5120"]
    assert tidemark("verify", path).returncode == 0


def test_events_in_any_order_are_sorted_by_time(write, tidemark):
    events = [memory(40, 0xB, -KIB, 2 * KIB), memory(10, 0xA, 2 * KIB, 2 * KIB),
              memory(30, 0xB, KIB, 3 * KIB)]
    lines = tape_of(tidemark, write(trace(*events), "t.json"))
    assert rows(lines, "alloc", "free") == ["alloc s0 2048", "alloc s1 1024", "free s1"]


def test_modules_steps_phases_and_operators_become_words_of_the_tape(write, tidemark):
    path = write(trace(
        region("ProfilerStep#7", 0, 1000),
        module("Net_0", 10, 100), module("Linear_0", 20, 90),
        operator("aten::linear", 30, 80, **{"Sequence number": 5}),
        operator("aten::addmm", 40, 70, **{"Sequence number": 5}),
        memory(50, 0xA, KIB, KIB),
        operator("autograd::engine::evaluate_function: AddmmBackward0", 200, 300, thread=2,
                 **{"Sequence number": 5, "Fwd thread id": 1}),
        operator("aten::mm", 220, 280, thread=2), memory(250, 0xB, KIB, 2 * KIB, thread=2),
        region("Optimizer.step#SGD.step", 400, 500), memory(450, 0xC, KIB, 3 * KIB),
        region("evaluation", 600, 700), memory(650, 0xD, KIB, 4 * KIB)), "t.json")
    found = json.loads(tidemark("peak", path, "--json", "--top", "9").stdout)
    assert found["steps"] == 1
    born = {fact["storage"]: fact["born"] for fact in found["devices"][0]["largest"]}
    told = [(born[s]["phase"], born[s]["scope"], born[s]["op"]) for s in sorted(born)]
    # The backward of the number that the linear layer's operator had is that layer's.
    assert told == [("forward", "Net_0.Linear_0", "aten::linear"),
                    ("backward", "Net_0.Linear_0", "aten::mm"),
                    ("optimizer", "Optimizer_step#SGD_step", None),
                    ("other", "evaluation", None)]


def test_a_module_inside_of_a_backward_node_is_recomputed(write, tidemark):
    path = write(trace(
        module("Net_0", 0, 50), module("Block_0", 10, 40), memory(20, 0xA, KIB, KIB),
        operator("autograd::engine::evaluate_function: CheckpointFunctionBackward", 100, 200),
        module("Block_0", 110, 150), memory(120, 0xB, KIB, 2 * KIB), memory(180, 0xC, KIB, 3 * KIB)),
        "t.json")
    found = json.loads(tidemark("peak", path, "--json").stdout)["devices"][0]["largest"]
    told = {fact["storage"]: (fact["born"]["phase"], fact["born"]["scope"]) for fact in found}
    assert told[0] == ("forward", "Net_0.Block_0")
    assert told[1] == ("recompute", "Net_0.Block_0")  # the path of the first call
    assert told[2][0] == "backward"


def test_a_failed_request_is_told_first(write, tidemark):
    path = write(trace(memory(10, 0xA, KIB, KIB), out_of_memory(20, 1 << 40, KIB)), "t.json")
    found = json.loads(tidemark("report", path, "--json").stdout)["run"]["out_of_memory"]
    assert found["wanted_bytes"] == 1 << 40 and found["allocated_bytes"] == KIB


def test_packed_with_gzip_it_is_the_same(write, tidemark):
    text = trace(memory(10, 0xA, KIB, KIB), memory(20, 0xB, 2 * KIB, 3 * KIB))
    plain, packed = write(text, "t.json"), write(gzip.compress(text.encode()), "t.json.gz")
    assert tape_of(tidemark, plain) == tape_of(tidemark, packed)


def test_a_bare_list_of_events_is_a_trace_too(write, tidemark):
    events = json.dumps([memory(10, 0xA, KIB, KIB)])
    assert rows(tape_of(tidemark, write(events, "t.json")), "alloc") == ["alloc s0 1024"]


def test_a_trace_without_memory_events_says_how_to_record_them(write, tidemark):
    done = tidemark("report", write(trace(operator("aten::mm", 1, 2)), "t.json"))
    assert done.returncode == 2 and "profile_memory=True" in done.stderr


# Each is the text around one event, and a word of the message.
GOOD = json.dumps(memory(10, 0xA, KIB, KIB))
BAD = {
    "cut in an event": ('{"traceEvents": [' + GOOD + ', {"ph": "i", "na', "ends in the middle"),
    "cut between events": ('{"traceEvents": [' + GOOD + ",", "ends in the middle"),
    "nested deeply": ('{"traceEvents": [' + GOOD + "," + "[" * 5000, "64 deep"),
    "an event that is a number": ('{"traceEvents": [' + GOOD + ", 5]}", "not as expected"),
    "bytes as text": ('{"traceEvents": [' + GOOD.replace('"Bytes": 1024', '"Bytes": "x"') + "]}",
                      "not as expected"),
    "no address": ('{"traceEvents": [' + GOOD.replace('"Addr": 10', '"At": 10') + "]}", "lacks"),
    "a thing twice": ('{"traceEvents": ['
                      + GOOD.replace('"Bytes": 1024', '"Bytes": 1024, "Bytes": 1') + "]}", "twice"),
    "two lists": ('{"traceEvents": [' + GOOD + '], "traceEvents": []}', "a second list"),
    "a huge number": ('{"traceEvents": ['
                      + GOOD.replace('"Bytes": 1024', '"Bytes": 99999999999999999999') + "]}",
                      "not as expected"),
    "a huge time": ('{"traceEvents": [' + GOOD.replace('"ts": 10', '"ts": 9e99') + "]}",
                    "not as expected"),
    "no UTF-8": (b'{"traceEvents": [' + GOOD.encode().replace(b"Addr", b"Ad\xff\xfe")
                 + b"]}", "not as expected"),
    "brackets that do not fit": ('{"traceEvents": [' + GOOD[:-1] + "]]}", "bracket"),
    "something behind the end": ('{"traceEvents": [' + GOOD + "]} and more", "follows the end"),
    "no events": ('{"schemaVersion": 1, "deviceProperties": []}', "no list traceEvents"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_trace_ends_with_the_byte(write, tidemark, case):
    text, word = BAD[case]
    done = tidemark("report", write(text, "t.json"))
    assert done.returncode == 2 and done.stdout == ""
    assert word in done.stderr and ": byte " in done.stderr, done.stderr


@pytest.mark.parametrize("cut", range(40, 700, 60))
def test_a_trace_cut_anywhere_is_refused_and_salvaged(write, tidemark, cut):
    text = trace(*(memory(10 * i, i, KIB, i * KIB) for i in range(1, 5)))
    path = write(text[:cut], "t.json")
    refused = tidemark("report", path)
    assert refused.returncode == 2
    whole = text[:cut].count("}}")  # an event ends with its arguments
    saved = tidemark("convert", path, "-", "--salvage")
    if whole == 0:
        assert saved.returncode == 2
        return
    assert f"byte {cut}: " in refused.stderr and "--salvage" in refused.stderr
    assert saved.returncode == 0
    assert len(rows(saved.stdout.splitlines(), "alloc")) == whole
    assert "damaged" in tidemark("verify", path, "--salvage").stdout


def test_ranks_are_compared_and_the_worst_is_named(write, tidemark):
    paths = []
    for rank, size in enumerate((4, 9, 4)):
        events = [region("data", 0, 50), memory(10, 0xA, size * KIB, size * KIB),
                  operator("aten::mm", 60, 90), memory(70, 0xB, KIB, (size + 1) * KIB)]
        head = {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 3}}
        paths.append(write(trace(*events, **head), f"rank{rank}.json"))
    done = tidemark("report", *paths, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["report"] == "ranks" and found["worst"] == 1
    assert [one["allocated_bytes"] for one in found["ranks"]] == [5 * KIB, 10 * KIB, 5 * KIB]
    # What the operator makes is the same on all; the region's is not.
    assert found["scopes"] == [{"name": "data", "least": 4 * KIB, "least_rank": 0,
                                "most": 9 * KIB, "most_rank": 1}]
    assert found["ops"] == [{"name": "(none)", "least": 4 * KIB, "least_rank": 0,
                             "most": 9 * KIB, "most_rank": 1}]
    assert "Rank 1 has the highest peak: 10.00 KiB" in tidemark("report", *paths).stdout


def test_with_is_for_execution_traces_of_a_profilers_trace(write, tidemark):
    good = write(trace(memory(10, 0xA, KIB, KIB)), "t.json")
    tape = write("tape 1\ndevice cpu\nalloc a 1KiB\n", "t.txt")
    done = tidemark("report", tape, "--with", good)
    assert done.returncode == 2 and "only be joined to a profiler's" in done.stderr
    done = tidemark("report", good, "--with", tape)
    assert done.returncode == 2 and "no execution trace" in done.stderr


def test_more_open_events_than_a_program_nests_are_refused(write, tidemark):
    count = (1 << 14) + 1
    spans = [operator("aten::mm", start, 2 * count) for start in range(count)]
    path = write(trace(memory(10, 0xA, KIB, KIB), *spans), "t.json")
    done = tidemark("report", path)
    assert done.returncode == 2 and "open at once" in done.stderr and "t.json" in done.stderr
    path = write(trace(memory(10, 0xA, KIB, KIB), *spans[1:]), "t.json")
    assert tidemark("report", path).returncode == 0


def test_a_diff_has_an_execution_trace_for_each_side(tidemark):
    names = ("mlp_stack", "conv_modules")
    traces = [DATA / f"small_trace_{name}.json.gz" for name in names]
    companions = [DATA / f"et_{name}.json.gz" for name in names]
    peaks = []
    for path, companion in zip(traces, companions, strict=True):
        done = tidemark("peak", path, "--with", companion, "--json")
        peaks.append(json.loads(done.stdout)["devices"][0]["categories"])
    done = tidemark("diff", *traces, "--with", *companions, "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)["devices"][0]["categories"]
    for side, peak in zip(("before", "after"), peaks, strict=True):
        assert {one["name"]: one[side] for one in found if one[side]} == peak
    done = tidemark("diff", *traces, "--with", companions[0])
    assert done.returncode == 2 and "--with needs two values" in done.stderr
    done = tidemark("diff", *traces, "--with", companions[0], traces[1])
    assert done.returncode == 2 and "no execution trace" in done.stderr


def test_kernels_and_other_events_of_any_form_are_passed_over(write, tidemark):
    odd = [{"ph": "M", "name": "process_name", "pid": "Spans", "tid": "x", "args": []},
           {"ph": "X", "cat": "kernel", "name": "gemm", "ts": "late", "dur": None},
           {"name": "nothing else"}, span("python_function", "train.py(3): main", 0, 5)]
    path = write(trace(*odd, memory(10, 0xA, KIB, KIB)), "t.json")
    assert rows(tape_of(tidemark, path), "alloc") == ["alloc s0 1024"]
