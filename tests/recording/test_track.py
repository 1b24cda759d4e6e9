"""`tidemark.track`: the tape of a live program says what the program did."""

from __future__ import annotations

import copy
import io
import warnings
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint

import tidemark
from tidemark.run_facts import is_out_of_memory


class Net(nn.Module):
    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.how = how
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)) for _ in range(2)
        )
        self.head = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            if self.how == "module":
                x = checkpoint(block, x, use_reentrant=False)
            elif self.how == "function":
                x = checkpoint(lambda y: torch.tanh(y).exp(), x, use_reentrant=False)
            else:
                x = block(x)
        return self.head(x)


def train(tracking: Any, model: nn.Module, optimizer: Any, x: torch.Tensor, steps: int = 2) -> None:
    with tracking:
        for _ in range(steps):
            model(x).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()


def make(how: str = "") -> tuple[nn.Module, Any, torch.Tensor]:
    torch.manual_seed(0)
    model = Net(how)
    return model, torch.optim.Adam(model.parameters()), torch.randn(8, 32)


def sizes(*tensors: torch.Tensor) -> int:
    return sum(t.untyped_storage().nbytes() for t in tensors)


@pytest.mark.parametrize("operators", [False, True])
def test_the_tape_is_sound_and_its_categories_are_the_true_sums(operators: bool) -> None:
    model, optimizer, x = make()
    tracking = tidemark.track(model, optimizer, x, operators=operators)
    train(tracking, model, optimizer, x)
    tape = tracking.tape
    assert not list(tidemark.verify(tape))
    [device] = tape.peak().devices
    by_category = {c.name: v for c, v in device.categories.items() if v}
    parameters = list(model.parameters())
    state = [t for s in optimizer.state.values() for t in s.values()]
    assert by_category["Parameter"] == sizes(*parameters)
    assert by_category["Gradient"] == sizes(*parameters)
    assert by_category["OptimizerState"] == sizes(*state)
    assert by_category["Input"] == sizes(x)


def test_modules_have_their_names_phases_and_parameters() -> None:
    model, optimizer, x = make()
    tracking = tidemark.track(model, optimizer, x)
    train(tracking, model, optimizer, x)
    scopes = {scope.path: scope for scope in tracking.tape.scopes().scopes}
    assert {"Net", "Net.blocks.0", "Net.blocks.1.2", "Net.head"} <= scopes.keys()
    phases = {one.phase.name: one.calls for one in scopes["Net.blocks.1"].phases}
    assert phases == {"Forward": 2, "Backward": 2}
    assert scopes["Net.blocks.0"].parameter_bytes == sizes(*model.blocks[0].parameters())
    assert scopes["Net"].parameter_bytes == sizes(*model.parameters())


def test_recomputation_is_a_phase_of_its_own() -> None:
    model, optimizer, x = make("module")
    tracking = tidemark.track(model, optimizer, x)
    train(tracking, model, optimizer, x)
    scopes = {scope.path: scope for scope in tracking.tape.scopes().scopes}
    phases = {one.phase.name: one.calls for one in scopes["Net.blocks.0.0"].phases}
    assert phases["Recompute"] == 2


@pytest.mark.parametrize("operators", [False, True])
def test_recomputed_functions_make_activations(operators: bool) -> None:
    """Two checkpointed functions keep four 1 KiB results each when they are computed again."""
    model, optimizer, x = make("function")
    with tidemark.track(model, optimizer, x, operators=operators) as tracking:
        seen: list[int] = []
        out = model(x)
        out.register_hook(lambda g: seen.append(tracking.current["cpu"]["Activation"]))
        model.head.weight.register_hook(
            lambda g: seen.append(tracking.current["cpu"]["Activation"]))
        out.sum().backward()
    tape = tracking.tape
    recomputed = [e for e in tape.events if e.kind.name == "Alloc" and e.category.name == "Activation"]
    assert len(recomputed) > 0


def test_a_step_of_the_program_is_a_step_of_the_tape() -> None:
    model, optimizer, x = make()
    tracking = tidemark.track(model, optimizer, x)
    train(tracking, model, optimizer, x, steps=3)
    assert tracking.steps == 3
    assert sum(1 for event in tracking.tape.events if event.kind.name == "Step") == 3


def test_tracking_starts_and_stops_at_any_time() -> None:
    model, optimizer, x = make()
    tracking = tidemark.track(model, optimizer, x)
    train(tracking, model, optimizer, x, steps=1)
    outside = [torch.zeros(100_000) for _ in range(3)]
    train(tracking, model, optimizer, x, steps=1)
    assert tracking.peak["cpu"]["total"] < sizes(*outside)
    assert tracking.steps == 2
    tracking.finish()
    with pytest.raises(RuntimeError, match="finished"):
        tracking.__enter__()


def test_nested_trackings_see_the_same() -> None:
    model, optimizer, x = make()
    outer, inner = tidemark.track(model, optimizer, x), tidemark.track(model, optimizer, x)
    with outer:
        train(inner, model, optimizer, x)
    assert outer.peak == inner.peak


def test_the_tape_is_kept_where_it_is_wanted(tmp_path: Path) -> None:
    model, optimizer, x = make()
    tracking = tidemark.track(model, optimizer, x, save=str(tmp_path / "run.tape"),
                              operators=True)
    train(tracking, model, optimizer, x)
    tracking.finish()
    saved = tidemark.open(str(tmp_path / "run.tape"))
    # The tape has what lives only inside operators, too.
    [device] = saved.peak().devices
    workspace = next((v for c, v in device.categories.items() if c.name == "Workspace"), 0)
    assert device.allocated_bytes - workspace == tracking.peak["cpu"]["total"]


def test_workspace_inside_operators_is_seen_on_request() -> None:
    with tidemark.track(operators=True) as tracking:
        torch.randn(4, 8, 16, 16).unfold(2, 3, 1).contiguous()
        torch.linalg.svd(torch.randn(64, 64))
    categories = {event.category.name for event in tracking.tape.events if event.kind.name == "Alloc"}
    assert "Workspace" in categories


@pytest.mark.parametrize("words", ["can't allocate memory", "not enough memory"])
def test_every_processors_words_for_no_memory_are_known(words: str) -> None:
    """PyTorch's allocator says the one on x86-64 and the other on arm64."""
    said = f"[enforce fail at alloc_cpu.cpp:1] . DefaultCPUAllocator: {words}: you tried to allocate"
    assert is_out_of_memory(RuntimeError(said))
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


def test_running_out_of_memory_is_explained(tmp_path: Path) -> None:
    class Greedy(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            # 2**58 bytes: no processor has so many addresses. Less is granted where a system
            # overcommits.
            return x @ torch.empty(2**55, dtype=torch.float64)

    model = nn.Sequential(nn.Linear(32, 32), Greedy())
    path = tmp_path / "oom.tape"
    said = io.StringIO()
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator"), redirect_stderr(said):
        with tidemark.track(model, save=str(path)):
            model(torch.randn(4, 32))
    text = said.getvalue()
    assert "out of memory on cpu: 256.00 PiB more were wanted" in text
    assert "in Sequential.1" in text
    assert "Parameter" in text and "Sequential.0" in text
    marks = [e for e in tidemark.open(str(path)).events if e.kind.name == "Mark"]
    assert len(marks) == 1


def test_many_events_lose_none_and_stay_flat() -> None:
    """A short soak; bench/recorder_soak.py is the long one."""
    import resource

    with tidemark.track() as tracking:
        x = torch.ones(8)
        for _ in range(5_000):
            x + x
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(50_000):
            x + x
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    events = sum(1 for e in tracking.tape.events if e.kind.name in ("Alloc", "Free"))
    assert events >= 2 * 55_000
    assert not tracking.tape.peak().diagnostics
    assert after - before < 20_000  # KiB


@pytest.mark.parametrize("how", ["loaded", "replaced in a step"])
def test_state_of_later_steps_is_state_too(how: str) -> None:
    class Renewing(torch.optim.Adam):
        def step(self, closure: Any = None) -> Any:
            super().step(closure)
            for state in self.state.values() if how != "loaded" else []:
                state["exp_avg"] = state["exp_avg"].clone()

    model, _, x = make()
    optimizer = Renewing(model.parameters())
    tracking = tidemark.track(model, optimizer, x)
    with tracking:
        for _ in range(3):
            model(x).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            if how == "loaded":
                optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        model(x).pow(2).mean().backward()
        optimizer.step()
        storages = [tensor.untyped_storage() for state in optimizer.state.values()
                    for tensor in state.values()]
        labels = {tracking._tracker.category_of(storage._cdata) for storage in storages}
    assert labels == {"OptimizerState"}


def test_without_operators_everything_counts_from_its_birth() -> None:
    model, optimizer, x = make()
    exact, light = tidemark.track(model, optimizer, x, operators=True), tidemark.track(
        model, optimizer, x)
    with exact:
        train(light, model, optimizer, x)
    assert not list(tidemark.verify(light.tape))
    for category in ("Parameter", "Gradient", "OptimizerState", "Other"):
        assert light.peak["cpu"][category] == exact.peak["cpu"][category]
    assert light.peak["cpu"]["total"] >= exact.peak["cpu"]["total"]
    assert light.current == exact.current


def test_fake_tensors_count_on_their_own_device() -> None:
    """Fake storages come from meta's allocator; two layers have 4 * (32 * 32 + 32) bytes each."""
    with FakeTensorMode():
        model = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32))
        with tidemark.track(model) as tracking:
            model(torch.randn(8, 32)).sum().backward()
    assert tracking.current.keys() == {"cpu"}
    assert tracking.current["cpu"]["Parameter"] == 2 * 4 * (32 * 32 + 32)
    assert tracking.current["cpu"]["Gradient"] == 2 * 4 * (32 * 32 + 32)


def test_a_compiled_model_stays_one_graph() -> None:
    """The compiler traces hooks of modules: ours must not break its graph."""
    graphs: list[Any] = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    model, optimizer, x = make()
    compiled = torch.compile(model, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's, about global hooks
        train(tidemark.track(model, optimizer, x), compiled, optimizer, x)
    torch._dynamo.reset()
    assert len(graphs) == 1


def test_a_bug_of_ours_does_not_end_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    model, optimizer, x = make()
    tracking = tidemark.track(model, optimizer, x)
    monkeypatch.setattr(tracking._follower, "_label_tree", lambda module: 1 / 0)
    with pytest.warns(RuntimeWarning, match="stopped tracking"):
        train(tracking, model, optimizer, x)
    assert len(optimizer.state) == len(list(model.parameters()))  # the program went on
    assert not tracking._tracker.is_running


def test_a_full_disk_costs_the_tape_and_not_the_program_or_its_report() -> None:
    model, optimizer, x = make()
    tracking = tidemark.track(model, optimizer, x, save="/dev/full")
    with pytest.warns(RuntimeWarning, match="/dev/full: cannot write: No space left"):
        train(tracking, model, optimizer, x)
    [device] = tracking.tape.peak().devices
    by_category = {c.name: v for c, v in device.categories.items() if v}
    assert by_category["Parameter"] == sizes(*model.parameters())
    assert "tape-cut" in tracking.report() or "could not be written" in tracking.report()


def test_a_folder_that_is_not_there_is_told_at_once() -> None:
    with pytest.raises(FileNotFoundError):
        tidemark.track(save="no/such/run.tape")


def test_the_file_is_whole_whenever_the_block_is_left(tmp_path: Path) -> None:
    model, optimizer, x = make()
    path = tmp_path / "run.tape"
    tracking = tidemark.track(model, optimizer, x, save=str(path))
    train(tracking, model, optimizer, x, steps=1)
    first = tidemark.open(path)
    assert not list(first.diagnostics) and not list(tidemark.verify(first))
    assert (first.steps, first.meta["run.steps"], first.meta["run.ended"]) == (1, "1", "script")
    with tracking:
        kept = torch.zeros(12345, dtype=torch.uint8)
    second = tidemark.open(path)
    del kept  # outside of any block: the next one knows it
    assert len(tidemark.open(path).events) == len(second.events)
    train(tracking, model, optimizer, x, steps=2)
    whole = tidemark.open(path)
    assert not list(whole.diagnostics) and not list(tidemark.verify(whole))
    assert (whole.steps, whole.meta["run.steps"]) == (3, "3")
    assert [e.bytes for e in whole.events][:len(first.events)] == [e.bytes for e in first.events]
    died = [e for e in whole.events if e.kind.name == "Free" and e.bytes == 12345]
    assert len(died) == 1
    assert tracking.tape.to_text() == whole.to_text()


def test_a_text_file_is_whole_whenever_the_block_is_left(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    tracking = tidemark.track(save=str(path))
    for size in (1234, 5678):
        with tracking:
            torch.zeros(size, dtype=torch.uint8)
        assert f"{size}" in path.read_text()
    assert tidemark.read_text(path.read_text()).to_text() == tracking.tape.to_text()


def test_more_trackings_than_notes_can_name_see_the_same() -> None:
    """A note names the tracker it is for in one byte; the others are told without notes."""
    model, optimizer, x = make()
    many = [tidemark.track(model, optimizer, x) for _ in range(260)]
    with many[0], many[-1]:
        model(x).sum().backward()
        optimizer.step()
    assert many[0].peak == many[-1].peak
    assert many[0].facts()["scopes"] == many[-1].facts()["scopes"]


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="oom must be"):
        tidemark.track(oom="panic")
