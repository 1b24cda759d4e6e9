"""Real traces: what is live equals the trace's own running total at every memory event."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest
import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, record_function

import tidemark
from tidemark import Category, Kind

DATA = Path(__file__).resolve().parents[1] / "data" / "traces"
GPU_TRACES = sorted(DATA.glob("small_trace_*.json.gz"))


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up, self.down = torch.nn.Linear(width, 3 * width), torch.nn.Linear(3 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A profiler's trace and an execution trace of one run, and what the run held at its end."""
    folder = tmp_path_factory.mktemp("traces")
    path, execution = folder / "trace.json", folder / "et.json"
    observer = ExecutionTraceObserver().register_callback(str(execution))
    model = torch.nn.Sequential(Block(16), Block(16))
    optimizer = torch.optim.Adam(model.parameters())
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True,
                 with_stack=True, execution_trace_observer=observer) as profiler:
        for step in range(3):
            with record_function("forward"):
                loss = model(torch.randn(8, 16)).square().mean()
            loss.backward()
            optimizer.step()
            if step < 2:
                optimizer.zero_grad()
    profiler.export_chrome_trace(str(path))
    gradients = [p.grad for p in model.parameters()]
    states = [value for state in optimizer.state.values() for value in state.values()]
    sizes = {Category.Gradient: sum(g.nbytes for g in gradients),
             Category.OptimizerState: sum(s.nbytes for s in states)}
    return path, execution, sizes


def told_totals(path):
    """By device, the trace's own total behind each memory event in the order of time."""
    opened = gzip.open(path) if path.suffix == ".gz" else path.open()
    with opened as file:
        events = [one for one in json.load(file)["traceEvents"] if one.get("name") == "[memory]"]
    totals = defaultdict(list)
    for one in sorted(events, key=lambda event: event["ts"]):
        args = one["args"]
        device = "cpu" if args["Device Type"] == 0 else f"cuda:{args['Device Id']}"
        totals[device].append(args["Total Allocated"])
    return totals


def our_totals(tape):
    """By device, what is live behind each birth, death and change of size."""
    live, now, totals = {}, defaultdict(int), defaultdict(list)
    for event in tape.events:
        if event.kind not in (Kind.Alloc, Kind.Free, Kind.Resize):
            continue
        before = live.pop(event.storage, 0)
        after = 0 if event.kind == Kind.Free else event.bytes
        device = event.device
        if after:
            live[event.storage] = after
        now[device] += after - before
        totals[device].append(now[device])
    return totals


def assert_same_totals(tape, path):
    ours = our_totals(tape)
    for device, told in told_totals(path).items():
        rest = iter(ours[device])
        # Each total in turn; between them may stand what was there before, told apart.
        for number, total in enumerate(told):
            assert total in rest, (device, number, total)
        assert ours[device][-1] == told[-1]


@pytest.mark.parametrize("path", GPU_TRACES, ids=lambda path: path.name)
def test_totals_of_a_gpus_trace_are_its_own(path):
    tape = tidemark.open(path)
    assert_same_totals(tape, path)
    assert not [d for d in tape.verify() if d.severity != "note"]
    peak = tidemark.find_peak(tape).devices[0]
    assert (peak.device, peak.allocated_bytes) == ("cuda:0", max(told_totals(path)["cuda:0"]))


@pytest.mark.parametrize("name", ["conv_modules", "mlp_stack"])
def test_joining_an_execution_trace_changes_no_total(name):
    path = DATA / f"small_trace_{name}.json.gz"
    tape = tidemark.open(path, execution_trace=DATA / f"et_{name}.json.gz")
    assert_same_totals(tape, path)
    categories = tidemark.find_peak(tape).devices[0].categories
    assert {Category.Gradient, Category.Activation, Category.OptimizerState} <= set(categories)


def test_totals_of_a_trace_recorded_here_are_its_own(recorded):
    path, execution, _ = recorded
    assert_same_totals(tidemark.open(path), path)
    assert_same_totals(tidemark.open(path, execution_trace=execution), path)


def test_gradients_and_optimizer_states_have_the_bytes_that_the_program_holds(recorded):
    path, execution, sizes = recorded
    tape = tidemark.open(path, execution_trace=execution)
    live = {}
    for event in tape.events:
        if event.kind in (Kind.Alloc, Kind.Relabel):
            live[event.storage] = (event.category, event.bytes)
        elif event.kind == Kind.Free:
            live.pop(event.storage, None)
    held = defaultdict(int)
    for category, size in live.values():
        held[category] += size
    assert {category: held[category] for category in sizes} == sizes


def test_backward_is_the_module_whose_forward_it_is(recorded):
    tape = tidemark.open(recorded[0])
    scopes = {event.scope for event in tape.events
              if event.kind == Kind.Alloc and event.phase == tidemark.Phase.Backward}
    assert any(scope.endswith("Linear_3") for scope in scopes), scopes


def test_an_execution_trace_alone_says_that_it_guesses(recorded):
    tape = tidemark.open(recorded[1])
    assert "first-and-last-uses" in {d.code for d in tape.diagnostics}
    assert not [d for d in tape.verify() if d.severity != "note"]
    # No more than the program can have held: the largest storage is the first weight's.
    largest = max(event.bytes for event in tape.events if event.kind == Kind.Alloc)
    assert largest == 16 * 48 * 4


def test_what_is_no_execution_trace_is_not_joined(recorded):
    path = recorded[0]
    with pytest.raises(tidemark.Error, match="no execution trace"):
        tidemark.open(path, execution_trace=path)


def test_ranks_have_answers_in_python(recorded):
    tapes = [tidemark.open(recorded[0]), tidemark.open(GPU_TRACES[0])]
    answer = tidemark.find_ranks(tapes, ["here", "there"])
    assert [rank.name for rank in answer.ranks] == ["here", "there"]
    assert answer.worst == max((0, 1), key=lambda i: answer.ranks[i].allocated_bytes)
    assert "has the highest peak" in answer.to_text() and answer.to_dict()["report"] == "ranks"
