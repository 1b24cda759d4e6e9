"""Where PyTorch's FSDPMemTracker is wrong, changes the program or refuses it; and its golden numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fsdp_comparing import (
    FSDPMemTracker,
    MendedFSDPMemTracker,
    Outcome,
    TorchFSDPMemTracker,
    run_under,
)
from fsdp_programs import PROGRAMS, WIDTH, Block, Program, batch, chain, line, shard, training
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

KIB = 1024
ONE_GRADIENT = 4 * WIDTH * WIDTH * 4  # of each of the two layers of a block


def totals(outcome: Outcome, module: str) -> dict[str, int]:
    return {state: calls[-1]["cpu"]["Total"] for state, calls in outcome.modules[module]}


def kib(number: float) -> int:
    return round(number * KIB)


def test_the_golden_run() -> None:
    """What PyTorch's tracker said of this program, written down apart; After Post-Backward without
    the gradient that it holds."""
    ours = run_under(FSDPMemTracker, PROGRAMS["two_blocks"])
    peak = ours.peak["cpu"]
    assert [peak[key] // KIB for key in ("Sharded Param", "Unsharded Param", "Activation", "All Gather",
                                         "Temp + OptState", "Inputs", "Total")] == [
        64, 128, 40, 128, 168 + 128, 8, 664]
    states = ("Before Pre-Forward", "After Pre-Forward", "Before Post-Forward", "After Post-Forward",
              "Peak Forward", "Before Pre-Backward", "After Pre-Backward", "Before Post-Backward",
              "After Post-Backward", "Peak Backward")
    block = "FSDPSequential.1"
    assert [totals(ours, block)[state] // KIB for state in states] == [
        368, 496, 536, 408, 624, 272, 528, 624, 528, 664]
    block = "FSDPSequential.0"
    assert [totals(ours, block)[state] // KIB for state in states] == [
        200, 456, 496, 368, 520, 528, 528, 616, 392, 656]


def test_it_holds_no_gradient() -> None:
    """D15: PyTorch's holds the last one of each group while FSDP2 frees them."""
    build = PROGRAMS["two_blocks"]
    held, mended = run_under(TorchFSDPMemTracker, build), run_under(MendedFSDPMemTracker, build)
    ours = run_under(FSDPMemTracker, build)
    for block in ("FSDPSequential.0", "FSDPSequential.1"):
        state = "After Post-Backward"
        assert totals(held, block)[state] == totals(mended, block)[state] + ONE_GRADIENT
        assert totals(ours, block)[state] == totals(mended, block)[state]


def test_fake_tensors_are_as_real_ones() -> None:
    mesh = line()  # reads values, which fake tensors have none of

    def build() -> Program:
        model = shard(chain(), mesh=mesh)
        return training(model, batch(), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))

    real = run_under(FSDPMemTracker, build)
    with FakeTensorMode():
        fake = run_under(FSDPMemTracker, build)
    assert fake.modules == real.modules
    assert (fake.peak, fake.current) == (real.peak, real.current)


def in_two_groups() -> Program:
    common = pytest.importorskip("torch.distributed.fsdp._fully_shard._fsdp_common")
    if not hasattr(common, "ShardPlacementResult"):
        pytest.skip("this PyTorch has one group a module")
    pairs = init_device_mesh("cpu", (2, 2), mesh_dim_names=("outer", "inner"))["inner"]
    few = common.ShardPlacementResult(None, common.FSDPMeshInfo(pairs, shard_mesh_dim=0))
    model = nn.Sequential(Block(bias=True), Block(bias=True))
    shard(model, shard_placement_fn=lambda parameter: few if parameter.ndim == 1 else None)
    return training(model, batch(), torch.optim.SGD(model.parameters(), lr=0.1))


def test_a_module_may_have_several_groups() -> None:
    """D16: PyTorch's raises."""
    with pytest.raises(AssertionError, match="at most 1 param group"):
        run_under(TorchFSDPMemTracker, in_two_groups)
    ours = run_under(FSDPMemTracker, in_two_groups)
    states = dict(ours.modules["FSDPSequential.0"])
    assert len(states["After Pre-Forward"]) == 1
    assert len(states["After Post-Backward"]) == 2
    # Weights in four parts, biases in two: 2 x 64 x 256 and 256 + 64 floats of each block.
    held = states["Before Pre-Forward"][0]["cpu"]["Sharded Param"]
    assert held == 2 * (2 * 64 * 256 // 4 + (256 + 64) // 2) * 4
    gathered = states["After Pre-Forward"][0]["cpu"]["Unsharded Param"]
    assert gathered == (2 * 64 * 256 + 256 + 64) * 4


def as_a_list() -> Program:
    model = chain(depth=3)
    mesh = line()
    fully_shard([model[0], model[1]], mesh=mesh)
    fully_shard(model[2], mesh=mesh)
    return training(fully_shard(model, mesh=mesh), batch(), iterations=1)


def test_modules_that_were_sharded_as_a_list_stay_together() -> None:
    """PyTorch's takes their common hooks away: it gathers and frees all for each."""
    theirs, ours = (dict(run_under(kind, as_a_list).modules["FSDPSequential.0"])
                    for kind in (TorchFSDPMemTracker, FSDPMemTracker))
    both = 2 * 2 * ONE_GRADIENT  # as many bytes as their weights
    for states, after_the_first in ((theirs, 0), (ours, both)):
        assert states["After Pre-Forward"][0]["cpu"]["Unsharded Param"] == both
        assert states["After Post-Forward"][0]["cpu"]["Unsharded Param"] == after_the_first


def hooks_of(model: nn.Module) -> list[Any]:
    return [(list(one._forward_pre_hooks.items()), list(one._forward_hooks.items()),
             list(one._forward_hooks_always_called)) for one in model.modules()]


def points() -> list[Any]:
    from torch.distributed.fsdp._fully_shard import _fsdp_collectives as collectives
    from torch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup

    return [vars(FSDPParamGroup)["pre_backward"], vars(FSDPParamGroup)["post_backward"],
            vars(collectives.DefaultAllGather)["__call__"],
            vars(collectives.DefaultReduceScatter)["__call__"]]


@pytest.mark.parametrize("build", [PROGRAMS["two_blocks"], as_a_list])
def test_fsdp2_is_as_it_was_afterwards(build: Callable[[], Program]) -> None:
    program = build()
    hooks, before = hooks_of(program.model), points()
    with FSDPMemTracker(program.model, program.optimizer) as tracker:
        program.run(tracker)
        assert points() != before
    assert hooks_of(program.model) == hooks
    assert points() == before


def gradients_of(build: Callable[[], Program], kind: Any) -> list[torch.Tensor]:
    torch.manual_seed(0)
    program = build()
    model = program.model
    if kind is None:
        model(program.inputs[0]).sum().backward()
    else:
        with kind(model):
            model(program.inputs[0]).sum().backward()
    return [p.grad.to_local() for p in model.parameters()]


@pytest.fixture
def written_scatters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.13 PyTorch's fake group leaves the output of a reduce-scatter as it was, uninitialized."""
    if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13):
        return
    scatter: Any = torch.distributed.reduce_scatter_tensor

    def scatter_own(output: torch.Tensor, input: torch.Tensor, **options: Any) -> Any:
        work = scatter(output, input, **options)
        output.copy_(input.chunk(torch.distributed.get_world_size())[0])
        return work

    monkeypatch.setattr(torch.distributed, "reduce_scatter_tensor", scatter_own)


@pytest.mark.usefixtures("written_scatters")
@pytest.mark.parametrize("name", ["two_blocks", "mixed_precision", "checkpoints_by_wrapper"])
def test_the_program_computes_what_it_would_alone(name: str) -> None:
    alone = gradients_of(PROGRAMS[name], None)
    tracked = gradients_of(PROGRAMS[name], FSDPMemTracker)
    assert all(torch.equal(one, other) for one, other in zip(alone, tracked, strict=True))


def test_a_second_iteration_needs_no_reset() -> None:
    program = PROGRAMS["two_blocks"]()
    model, x = program.model, program.inputs[0]
    with FSDPMemTracker(model) as tracker:
        for _ in range(3):
            model(x).sum().backward()
            model.zero_grad()
        states = tracker.memory_tracking[model[0]].snapshots
    assert {len(calls) for calls in states.values()} == {3}


def test_a_reset_may_come_before_the_backward() -> None:
    program = PROGRAMS["two_blocks"]()
    with FSDPMemTracker(program.model) as tracker:
        loss = program.model(program.inputs[0]).sum()
        tracker.reset_mod_stats()
        loss.backward()
        program.model.zero_grad()
        program.model(program.inputs[0]).sum().backward()
        states = tracker.memory_tracking[program.model[0]].snapshots
    assert "After Post-Forward" in {state.value for state in states}


def test_an_error_of_ours_is_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS["two_blocks"]()
    tracker = FSDPMemTracker(program.model)

    def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(tracker, "after_pre_forward", fail)
    with pytest.warns(RuntimeWarning, match="stopped tracking.*a bug"), tracker:
        program.model(program.inputs[0]).sum().backward()
    assert all(p.grad is not None for p in program.model.parameters())


def test_other_modules_are_refused() -> None:
    with pytest.raises(AssertionError, match="only supports FSDP modules"):
        FSDPMemTracker(nn.Linear(2, 2))


def test_it_prints_as_pytorch_does(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for kind in (MendedFSDPMemTracker, FSDPMemTracker):
        torch.manual_seed(0)
        program = PROGRAMS["no_optimizer"]()
        with kind(program.model) as tracker:
            program.run(tracker)
        tracker.display_snapshot("peak", units="KiB")
        tracker.display_modulewise_snapshots(depth=3, units="KiB")
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""
