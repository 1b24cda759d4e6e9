"""torch.cuda's seeds and generators."""

from __future__ import annotations

from typing import Any, Iterable

import torch

from tidemark.virtual_cuda.devices import index_of
from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches


def patch_random(patches: Patches) -> None:
    generators = tuple(
        torch.Generator(device=f"cuda:{i}") for i in range(library().device_count())
    )

    def generator(device: Any = "cuda") -> torch.Generator:
        return generators[index_of(device)]

    def manual_seed_all(seed: int) -> None:
        for one in generators:
            one.manual_seed(int(seed))

    def set_state(state: torch.Tensor, device: Any = "cuda") -> None:
        generator(device).set_state(state)

    def set_states(states: Iterable[torch.Tensor]) -> None:
        for one, state in zip(generators, states):
            one.set_state(state)

    answers = {
        "get_rng_state": lambda device="cuda": generator(device).get_state(),
        "get_rng_state_all": lambda: [one.get_state() for one in generators],
        "set_rng_state": set_state,
        "set_rng_state_all": set_states,
        "manual_seed": lambda seed: generator().manual_seed(int(seed)) and None,
        "manual_seed_all": manual_seed_all,
        "seed": lambda: generator().seed() and None,
        "seed_all": lambda: None,
        "initial_seed": lambda: generator().initial_seed(),
    }
    patches.set(torch.cuda, "default_generators", generators)
    for owner in (torch.cuda, torch.cuda.random):
        patches.set_all(owner, **answers)
