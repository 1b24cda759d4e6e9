"""Whatever goes wrong in the tracker, the program goes on; what is missing is told at the end."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tidemark
from tidemark.compat import MemTracker
from tidemark.recording.library import _recorder
from tidemark.recording.resizes import tell_of_resizes


def run(tmp_path: Path, program: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(program))
    return subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                          cwd=tmp_path, check=False, timeout=200)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's account of memory")
def test_a_tracker_without_memory_for_its_own_tables_ends_and_the_program_does_not(
        tmp_path: Path) -> None:
    """65 536 storages are known when no more address space is granted: the table of the next ones is
    wanted inside a module call, where notes are handed on."""
    done = run(tmp_path, """
        import resource
        import torch
        import tidemark
        from torch import nn

        def size():
            line = next(l for l in open("/proc/self/status") if l.startswith("VmSize"))
            return int(line.split()[1]) * 1024

        model, x = nn.Linear(8, 8), torch.ones(1, 8)
        with torch.no_grad(), tidemark.track(model, save="run.tape") as tracking:
            model(x)
            kept = [torch.empty(16) for _ in range(62_000)]
            tracking.current
            kept += [torch.empty(16) for _ in range(6_000)]
            limits = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (size() + (1 << 20), limits[1]))
            result = model(x)
            for _ in range(20):
                result = model(x)
                del kept[-100:]
            resource.setrlimit(resource.RLIMIT_AS, limits)
        print(tuple(result.shape), bool(tracking._tracker.why_given_up))
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(1, 8) True\n"
    assert "tidemark stopped tracking" in done.stderr
    tape = tidemark.open(str(tmp_path / "run.tape"))
    assert "recording-stopped" in {one.code for one in tape.diagnostics}


def test_a_full_disk_costs_neither_the_program_nor_the_report() -> None:
    model = nn.Linear(8, 8)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with tidemark.track(model, save="/dev/full") as tracking:
            for _ in range(2000):
                model(torch.ones(8)).sum().backward()
    assert any("No space left" in str(one.message) for one in told)
    assert "What the peak is made of" in tracking.report()


class Broken:
    """A tracker whose every method of these names fails."""

    def __init__(self, tracker: Any, names: set[str]) -> None:
        self._tracker, self._names = tracker, names

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            raise RuntimeError(f"broken {name}")
        return getattr(self._tracker, name)


@pytest.mark.parametrize("broken", ["begin_optimizer", "end_optimizer", "label", "add_module"])
def test_errors_of_ours_around_steps_and_modules_stop_tracking_only(broken: str) -> None:
    model = nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    before = model.weight.detach().clone()
    tracker = MemTracker()
    tracker._follower.tracker = Broken(tracker._tracker, {broken})
    with pytest.warns(RuntimeWarning, match=f"stopped tracking.*broken {broken}"), tracker:
        for _ in range(2):
            model(torch.ones(8)).sum().backward()
            optimizer.step()
    assert not torch.equal(before, model.weight)
    assert "broken" in tracker._tracker.why_given_up


def test_errors_of_ours_in_a_resize_are_not_the_programs() -> None:
    class Failing:
        seen = 0

        def _look_at_size(self, storage: torch.UntypedStorage) -> None:
            self.seen += 1
            raise RuntimeError("broken")

    hearer, tensor = Failing(), torch.ones(10)
    tell_of_resizes(hearer)
    with MemTracker():
        tensor.untyped_storage().resize_(400)
    assert hearer.seen == 1
    assert tensor.untyped_storage().nbytes() == 400
    tensor.untyped_storage().resize_(800)
    assert hearer.seen == 1


def test_a_resize_that_fails_is_the_programs_own_error() -> None:
    tracker, tensor = MemTracker(), torch.ones(10)
    tracker.track_external(tensor)
    borrowed = torch.frombuffer(bytearray(16), dtype=torch.uint8).untyped_storage()
    with tracker:
        with pytest.raises(RuntimeError, match="not resizable"):
            borrowed.resize_(400)
        with pytest.raises(TypeError):
            tensor.untyped_storage().resize_()  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            tensor.untyped_storage().resize_(1, 2)  # type: ignore[call-arg]
        tensor.untyped_storage().resize_(400)
        assert tracker.get_tracker_snapshot()[torch.device("cpu")]["Total"] == 400


def test_errors_of_ours_at_a_gradient_stop_tracking_only() -> None:
    class Opaque(torch.Tensor):
        """A wrapper that cannot be taken apart."""

        @staticmethod
        def __new__(cls) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, (2,))

        def __tensor_flatten__(self) -> Any:
            raise RuntimeError("closed")

        @staticmethod
        def __tensor_unflatten__(*_: Any) -> Any:
            raise NotImplementedError

        @classmethod
        def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    tracker = _recorder.Tracker()
    tracker.start()
    try:
        assert _recorder.gradient_hook(tracker)(Opaque()) is None
        assert "closed" in tracker.why_given_up
        assert not tracker.is_running
    finally:
        tracker.stop()


def test_warnings_of_ours_are_no_errors_where_warnings_are() -> None:
    model = nn.Linear(8, 8)
    tracker = MemTracker()
    tracker._follower.tracker = Broken(tracker._tracker, {"add_module"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tracker:
            assert model(torch.ones(8)).shape == (8,)
