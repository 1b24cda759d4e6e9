"""What modules are called: by class, by what the program calls them, wrappers left out."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

import tidemark
from tidemark.module_names import ModuleNames, unwrapped


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def test_a_class_of_the_programs_own_names_its_first_module() -> None:
    names, net = ModuleNames(), Net()
    assert names.name_of(net) == "Net"
    assert names.find(net.layers[1]) == "Net.layers.1"


def test_a_second_module_of_a_class_has_the_variables_name() -> None:
    program = "student, teacher = Net(), Net()\nfound = [names.name_of(student), names.name_of(teacher)]"
    script = {"names": ModuleNames(), "Net": Net}
    exec(compile(program, "train.py", "exec"), script)
    assert script["found"] == ["Net", "teacher"]
    assert script["names"].find(script["teacher"].layers[0]) == "teacher.layers.0"


def test_a_name_keeps_nothing_alive() -> None:
    names, chain = ModuleNames(), nn.Sequential()
    names.name_of(chain)
    alive = weakref.ref(chain)
    del chain
    assert alive() is None


def test_torchs_own_classes_have_the_attributes_name() -> None:
    class Agent:
        def __init__(self) -> None:
            self.actor, self.critic = nn.Sequential(nn.Linear(4, 4)), nn.Sequential()

        def named(self, names: ModuleNames) -> list[str]:
            return [names.name_of(self.actor), names.name_of(self.critic)]

    names, agent = ModuleNames(), Agent()
    assert agent.named(names) == ["Agent.actor", "Agent.critic"]
    assert names.find(agent.actor[0]) == "Agent.actor.0"
    other = Agent()
    assert other.named(names) == ["Agent.actor#2", "Agent.critic#2"]


def test_a_module_that_is_never_called_names_what_it_has() -> None:
    class Agent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.actor = nn.Sequential(nn.Linear(4, 4))

    names, agent = ModuleNames(), Agent()
    assert names.name_of(agent.actor) == "Agent.actor"


def test_what_nobody_calls_by_a_name_has_its_class_and_a_number() -> None:
    names, many = ModuleNames(), [nn.Linear(1, 1), nn.Linear(1, 1)]
    assert [names.name_of(many[0]), names.name_of(many[1])] == ["Linear", "Linear#2"]


def test_the_name_of_a_dead_module_is_free_again() -> None:
    names, found = ModuleNames(), set()
    for _ in range(5):
        found.add(names.name_of([nn.MSELoss()][0]))
        gc.collect()
    assert found == {"MSELoss"}


@pytest.mark.parametrize("wrap", [nn.DataParallel, lambda net: nn.DataParallel(nn.DataParallel(net))],
                         ids=["once", "twice"])
def test_wrappers_take_no_level(wrap: type[nn.DataParallel]) -> None:
    names, net = ModuleNames(), Net()
    wrapped = wrap(net)
    assert unwrapped(wrapped) is net
    assert names.name_of(wrapped) == names.find(net) == "Net"
    assert names.find(net.layers[0]) == "Net.layers.0"


def test_a_wrapper_s_attribute_is_no_name() -> None:
    class Agent:
        def __init__(self) -> None:
            self.actor = nn.DataParallel(nn.DataParallel(nn.Linear(4, 4)))

    names, agent, wrapped = ModuleNames(), Agent(), [nn.DataParallel(nn.Linear(4, 4))]
    assert names.name_of(agent.actor) == "Agent.actor"
    assert names.name_of(wrapped[0]) == "Linear"


@pytest.fixture
def process_group(tmp_path: Path) -> Iterator[None]:
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'group'}", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("wrap", [
    nn.parallel.DistributedDataParallel,
    lambda net: torch.compile(net, backend="eager"),
    lambda net: torch.compile(nn.parallel.DistributedDataParallel(net), backend="eager"),
], ids=["replicated", "compiled", "both"])
def test_the_wrappers_of_training_take_no_level(wrap: Callable[[nn.Module], nn.Module]) -> None:
    names, net = ModuleNames(), Net()
    wrapped = wrap(net)
    assert wrapped is not net and unwrapped(wrapped) is net
    assert names.name_of(wrapped) == names.find(net) == "Net"
    assert names.find(net.layers[0]) == "Net.layers.0"


def test_a_module_that_is_wrapped_later_keeps_its_name() -> None:
    names, net = ModuleNames(), Net()
    names.name_of(net)
    assert names.name_of(nn.DataParallel(net)) == "Net"


def test_a_users_own_wrapper_is_a_module_like_others() -> None:
    class DataParallel(nn.Module):
        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

    names, net = ModuleNames(), Net()
    assert names.name_of(DataParallel(net)) == "DataParallel"
    assert names.find(net) == "DataParallel.module"


def test_a_root_that_turns_out_to_be_inside_another_is_renamed_in_the_tape() -> None:
    net, x = Net(), torch.randn(2, 4)
    with tidemark.track() as tracking:
        net.layers[1](x)
        net(x)
    called_by_name = {scope.path: sum(phase.calls for phase in scope.phases)
                      for scope in tracking.finish().scopes().scopes}
    assert called_by_name["Net.layers.1"] == 1
    assert called_by_name["Net"] == 1


def test_calls_of_wrappers_are_not_in_the_tape() -> None:
    net, x = Net(), torch.randn(2, 4)
    wrapped = nn.DataParallel(net)
    with tidemark.track() as tracking:
        wrapped(x).sum().backward()
    calls = {scope.path: [phase.calls for phase in scope.phases]
             for scope in tracking.finish().scopes().scopes}
    assert calls["Net"] == [1, 1]
    assert not [path for path in calls if "module" in path or "DataParallel" in path]
