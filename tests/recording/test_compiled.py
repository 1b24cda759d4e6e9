"""A compiled program is followed: its parameters, gradients and modules, and no storages of trials."""

from __future__ import annotations

import warnings

import torch
from torch import nn

import tidemark


def test_a_compiled_model_has_its_parameters_gradients_and_calls() -> None:
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fast = torch.compile(model, backend="aot_eager")
    x = torch.randn(8, 256)
    with warnings.catch_warnings(), tidemark.track() as tracking:
        warnings.simplefilter("ignore")  # the compiler's, that there are hooks
        for _ in range(2):
            fast(x).sum().backward()
            gradients = tracking.current["cpu"]["Gradient"]
            optimizer.step()
            optimizer.zero_grad()
    weights = sum(one.nbytes for one in model.parameters())
    assert gradients == tracking.peak["cpu"]["Parameter"] == weights
    assert set(tracking.peak) == {"cpu"}  # and not meta
    events = [tracking.tape.events[i] for i in range(len(tracking.tape))]
    calls = [(one.scope, one.phase.name) for one in events if one.kind.name == "ScopeBegin"]
    assert calls[:2] == [(calls[0][0], "Forward"), (calls[0][0], "Backward")] and len(calls) == 4
