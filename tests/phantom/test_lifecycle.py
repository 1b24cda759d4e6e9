"""Opening and closing: nothing of the virtual GPUs stays behind, and sessions do not mix."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from typing import Any

import pytest
import torch

from tidemark.gpus import CATALOGUE
from tidemark.virtual_cuda import close_gpus, library, open_gpus

OWNERS = (
    torch, torch._C, torch.accelerator, torch.accelerator.memory, torch.backends,
    torch.backends.cuda, torch.backends.cudnn, torch.cuda, torch.cuda.graphs, torch.cuda.memory,
    torch.cuda.nvtx, torch.cuda.random, torch.cuda.streams, torch.cuda.amp, torch.nn.Module,
    torch.utils.cpp_extension if hasattr(torch.utils, "cpp_extension") else torch.utils,
    torch.version, torch.UntypedStorage, torch.Tensor, torch.Generator, torch.optim.Optimizer,
    torch.library, torch.library.Library, ExtensionFileLoader,
)


ERRORS = ("RuntimeError", "AcceleratorError")  # the second is one of the first


def names() -> dict[str, dict[str, int]]:
    return {f"{owner}": {name: id(value) for name, value in vars(owner).items()} for owner in OWNERS}


# Asked in a plain process, and in one where virtual GPUs were open before.
QUESTIONS = """
import json, sys
virtual = sys.argv[1] == "virtual"
if virtual:
    from tidemark.gpus import CATALOGUE
    from tidemark.virtual_cuda import close_gpus, load, open_gpus
    load()
import os
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import torch
kept = []
if virtual:
    open_gpus(CATALOGUE["h100"], 2)
    model = torch.nn.Linear(4, 4).cuda()
    model(torch.ones(2, 4, device="cuda")).sum().backward()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda.set_device(1)
        kept.append(torch.ones(3, device="cuda"))
    torch.cuda.manual_seed_all(3)
    close_gpus()

questions = {
    "available": lambda: torch.cuda.is_available(),
    "count": lambda: torch.cuda.device_count(),
    "initialized": lambda: torch.cuda.is_initialized(),
    "accelerator": lambda: torch.accelerator.is_available(),
    "current accelerator": lambda: torch.accelerator.current_accelerator(),
    "accelerators": lambda: torch.accelerator.device_count(),
    "zeros": lambda: torch.zeros(1, device="cuda"),
    "tensor": lambda: torch.tensor([1], device="cuda:0"),
    "to": lambda: torch.zeros(1).to("cuda"),
    "cuda": lambda: torch.zeros(1).cuda(),
    "module": lambda: torch.nn.Linear(1, 1).cuda(),
    "current device": lambda: torch.cuda.current_device(),
    "name": lambda: torch.cuda.get_device_name(),
    "properties": lambda: torch.cuda.get_device_properties(0),
    "capability": lambda: torch.cuda.get_device_capability(),
    "allocated": lambda: torch.cuda.memory_allocated(),
    "statistics": lambda: len(torch.cuda.memory_stats()),
    "free": lambda: torch.cuda.mem_get_info(),
    "empty cache": lambda: torch.cuda.empty_cache(),
    "synchronize": lambda: torch.cuda.synchronize(),
    "bf16": lambda: torch.cuda.is_bf16_supported(),
    "seed": lambda: torch.cuda.manual_seed(3),
    "state": lambda: torch.cuda.get_rng_state(),
    "generator": lambda: torch.Generator("cuda"),
    "stream": lambda: torch.cuda.Stream(),
    "plain stream": lambda: torch.Stream(device="cuda"),
    "event": lambda: torch.cuda.Event().record(),
    "capturing": lambda: torch.cuda.is_current_stream_capturing(),
    "pinned": lambda: torch.zeros(1).pin_memory(),
    "is pinned": lambda: torch.zeros(1).is_pinned(),
    "float tensor": lambda: torch.cuda.FloatTensor(1),
    "cudnn": lambda: [torch.backends.cudnn.is_available(), torch.backends.cudnn.version()],
    "built": lambda: torch.backends.cuda.is_built(),
    "version": lambda: torch.version.cuda,
    "attention": lambda: torch.nn.functional.scaled_dot_product_attention(
        *(torch.ones(1, 1, 2, 2) for _ in range(3))).shape,
    "backward": lambda: torch.ones(2, requires_grad=True).sum().backward(),
    "compile": lambda: torch.compile.__module__,
    "numbers": lambda: (torch.manual_seed(5), torch.randn(3).tolist())[1],
    "scaler": lambda: torch.amp.GradScaler().is_enabled(),
    "autocast": lambda: torch.is_autocast_enabled("cuda"),
}
answers = {}
for name, ask in questions.items():
    try:
        answers[name] = str(ask())
    except Exception as error:
        answers[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"
print(json.dumps(answers))
"""


def test_after_closing_every_answer_is_that_of_a_machine_without_a_gpu(
    fresh_process: Callable[..., Any],
) -> None:
    plain, virtual = (fresh_process(QUESTIONS, word) for word in ("plain", "virtual"))
    assert virtual.returncode == 0, virtual.stderr
    expected, answers = json.loads(plain.stdout), json.loads(virtual.stdout)
    differing = {name for name in answers if answers[name] != expected[name]}
    if torch.version.cuda is None:
        assert differing == {"generator"}  # ours says that the GPUs are closed
    else:  # of a CUDA build most errors miss a driver, and it names an accelerator all the same
        differing -= {"current accelerator"}
    for name in differing:
        assert all(told[name].split(":")[0] in ERRORS for told in (expected, answers)), name
    assert expected["available"] == "False" and expected["count"] == "0"  # no GPU here indeed


def test_after_closing_every_name_is_what_it_was() -> None:
    torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()  # lets torch import what it defers
    before = names()
    open_gpus(CATALOGUE["h100"], 2)
    assert names() != before
    close_gpus()
    after = names()
    for owner, values in before.items():
        assert after[owner] == values, {
            name for name in {*after[owner], *values} if after[owner].get(name) != values.get(name)
        }


def test_names_are_restored_when_opening_fails(open_session: Callable[..., Any]) -> None:
    before = names()
    with pytest.raises((ValueError, RuntimeError), match="1 to 16"):
        open_session(99)
    with pytest.raises(ValueError, match="on_value"):
        open_session(on_value="sometimes")
    assert not library().is_open() and names() == before


def test_a_second_session_at_once_is_refused(open_session: Callable[..., Any]) -> None:
    open_session()
    with pytest.raises(RuntimeError, match="on already"):
        open_session()
    assert torch.ones(1, device="cuda").item() == 1


def test_closing_twice_or_without_opening_does_nothing() -> None:
    close_gpus()
    close_gpus()
    assert not torch.cuda.is_available()


def test_sessions_do_not_disturb_each_other(open_session: Callable[..., Any]) -> None:
    facts = []
    for gpus in (1, 3, 2):
        open_session(gpus)
        assert torch.cuda.device_count() == gpus
        assert torch.cuda.memory_allocated() == 0 and library().ops() == 0
        assert library().step() == 0 and library().diagnostics() == []
        torch.manual_seed(0)
        model = torch.nn.Linear(100, 100).to(f"cuda:{gpus - 1}")
        model(torch.ones(7, 100, device=f"cuda:{gpus - 1}")).sum().backward()
        torch.empty(1, device="cuda").item()
        facts.append([
            torch.cuda.max_memory_allocated(gpus - 1), len(library().diagnostics()),
            library().step(),
        ])
        del model
        close_gpus()
    assert facts[0] == facts[1] == facts[2]


def test_phantoms_may_outlive_their_session(open_session: Callable[..., Any]) -> None:
    open_session()
    old = torch.ones(1000, device="cuda")
    graph = (torch.ones(1000, device="cuda", requires_grad=True) * 2).sum()
    close_gpus()
    assert old.shape == (1000,) and old.is_cuda
    with pytest.raises((RuntimeError, NotImplementedError, AssertionError)):
        old + 1
    open_session()
    fresh = torch.ones(1000, device="cuda")
    assert torch.cuda.memory_allocated() == 4096  # 4000 bytes rounded to 512
    del old, graph
    gc.collect()
    # What was born in another session is not this one's to free.
    assert torch.cuda.memory_allocated() == 4096
    del fresh
    assert torch.cuda.memory_allocated() == 0


def test_a_phantom_of_an_older_session_does_not_break_the_next(
    open_session: Callable[..., Any],
) -> None:
    open_session()
    old = torch.ones(1000, device="cuda")
    close_gpus()
    open_session()
    assert (old + 1).shape == (1000,)
    assert old.sum().item() == 1000
    old.untyped_storage().resize_(0)
    assert torch.cuda.memory_allocated() == 0


def test_the_current_device_and_stream_begin_anew(open_session: Callable[..., Any]) -> None:
    open_session(2)
    torch.cuda.set_device(1)
    torch.cuda.set_stream(torch.cuda.Stream(1))
    close_gpus()
    open_session(1)
    assert torch.cuda.current_device() == 0
    assert torch.ones(1, device="cuda").device == torch.device("cuda:0")
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
