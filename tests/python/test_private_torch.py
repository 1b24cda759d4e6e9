"""What torch has changed under us is told in one sentence that names it, before anything runs."""

from __future__ import annotations

import importlib

import pytest
import torch
from alike_programs import ends_of

from tidemark import private_torch, torch_match
from tidemark.private_torch import TABLE, check_private
from tidemark.torch_match import WrongTorch, check_torch, load_extension

PARTS = sorted({part for row in TABLE for part in row.parts})


@pytest.mark.parametrize("part", PARTS)
def test_this_torch_has_it_all(part: str) -> None:
    assert check_private(part) == []


def test_what_is_checked_at_load_belongs_to_a_part() -> None:
    assert all(row.parts for row in TABLE if row.noticed == private_torch.AT_LOAD)


def test_what_is_gone_is_named_with_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("torch.nn.modules.module._global_forward_hooks")
    with pytest.raises(WrongTorch) as told:
        check_torch("recording")
    sentence = str(told.value)
    assert f"torch {torch.__version__} has no torch.nn.modules.module._global_forward_hooks" in sentence
    assert "\n" not in sentence


def test_what_has_become_something_else_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    optimizers = importlib.import_module("torch.optim.optimizer")
    monkeypatch.setattr(optimizers, "_global_optimizer_pre_hooks", [])
    monkeypatch.setattr(torch.nn.Module, "_call_impl", lambda module: None)
    assert check_private("recording") == [
        "torch.optim.optimizer._global_optimizer_pre_hooks", "torch.nn.Module._call_impl",
    ]


ENTRANCES = {
    "torch._guards.active_fake_mode": "import tidemark; tidemark.track()",
    "torch.utils._python_dispatch.is_traceable_wrapper_subclass": "from tidemark.compat import MemTracker",
    "torch.utils._pytree.tree_leaves": "from tidemark.compat import ModTracker",
    "torch.utils._ordered_set.OrderedSet": "from tidemark.compat import memory_estimator",
}


@pytest.fixture(scope="module")
def ends() -> dict[str, tuple[int, str]]:
    """How each of these programs ends, which lose a part of torch before they load tidemark."""
    owners = ", ".join(lost.rpartition(".")[0] for lost in ENTRANCES)
    programs = [f"del {lost}\n{entrance}" for lost, entrance in ENTRANCES.items()]
    return dict(zip(ENTRANCES, ends_of(f"import torch, torch.fx.experimental.symbolic_shapes, {owners}\n", programs),
                    strict=True))


@pytest.mark.parametrize("lost", ENTRANCES)
def test_a_program_is_told_when_it_loads_tidemark(lost: str, ends: dict[str, tuple[int, str]]) -> None:
    code, errors = ends[lost]
    assert code == 1
    last = errors.splitlines()[-1]
    assert last.startswith(f"tidemark.torch_match.WrongTorch: torch {torch.__version__} has no {lost} ")


def test_a_symbol_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ImportError(f"{name}.so: undefined symbol: _ZN5torch8autograd4goneEv")

    monkeypatch.setattr(torch_match.importlib, "import_module", fail)
    with pytest.raises(WrongTorch, match=r"torch .* has no _ZN5torch8autograd4goneEv as tidemark"):
        load_extension("_recorder")


def test_other_errors_of_loading_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ImportError("no such file")

    monkeypatch.setattr(torch_match.importlib, "import_module", fail)
    with pytest.raises(ImportError, match="no such file"):
        load_extension("_recorder")
