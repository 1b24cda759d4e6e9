"""Transformations of torch.func over modules whose calls are followed and whose weights are labelled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = """
import torch
from torch.func import functional_call, grad, hessian, jacfwd, jvp, stack_module_state, vmap

models = [torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4)).cuda()
          for _ in range(3)]
model, x = models[0], torch.ones(2, 4, device="cuda")
weights = dict(model.named_parameters())

def loss(weights, x):
    return functional_call(model, weights, (x,)).square().sum()

found = [
    grad(loss)(weights, x)["0.weight"],
    vmap(loss, (None, 0))(weights, x),
    vmap(grad(loss), (None, 0))(weights, x)["2.bias"],
    vmap(lambda weights, x: functional_call(model, weights, (x,)), (0, None))(
        stack_module_state(models)[0], x),
    jvp(model, (x,), (x,))[1],
    jacfwd(model)(x),
    hessian(lambda x: model(x).square().sum())(x),
]
print("shapes", [tuple(t.shape) for t in found], all(t.is_cuda for t in found))
"""


def test_modules_under_torch_func_are_followed(estimate: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    done = estimate(script)
    assert done.exit_code == 0, done.script_output
    shapes = [(4, 4), (2,), (2, 4), (3, 2, 4), (2, 4), (2, 4, 2, 4), (2, 4, 2, 4)]
    assert f"shapes {shapes} True" in done.script_output
    # The stack of three models' weights belongs to nobody; those of the first are its parameters.
    assert "Parameter" in done.facts["peak"]["devices"][0]["categories"]
