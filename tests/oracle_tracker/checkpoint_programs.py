"""Programs that recompute, accumulate gradients, or stop before their backward."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from program_kit import Program, collect_cycles, mlp, note, program, training
from torch import nn
from torch.utils.checkpoint import checkpoint


class Blocks(nn.Module):
    def __init__(self, how: str, count: int = 3, width: int = 32) -> None:
        super().__init__()
        self.how = how
        self.blocks = nn.ModuleList(mlp(width) for _ in range(count))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            if self.how == "module":
                x = checkpoint(block, x, use_reentrant=False)
            elif self.how == "reentrant":
                x = checkpoint(block, x, use_reentrant=True)
            elif self.how == "function":
                x = checkpoint(lambda y: F.gelu(y * 2) + 1, block(x), use_reentrant=False)
            elif self.how == "two modules":
                x = checkpoint(lambda y, b=block: b(torch.tanh(b(y))), x, use_reentrant=False)
            elif self.how == "nested":
                x = checkpoint(
                    lambda y, b=block: checkpoint(b, y, use_reentrant=False) * 2, x,
                    use_reentrant=False,
                )
        return x


def checkpointed(how: str) -> Program:
    model = Blocks(how)
    return training(
        model, torch.randn(16, 32, requires_grad=how == "reentrant"),
        torch.optim.Adam(model.parameters(), foreach=False),
        # A leaf input keeps the hooks of all iterations in PyTorch's tracker.
        iterations=1 if how == "reentrant" else 2,
    )


@program
def checkpointed_modules() -> Program:
    return checkpointed("module")


@program
def checkpointed_reentrant() -> Program:
    return checkpointed("reentrant")


@program
def checkpointed_function() -> Program:
    return checkpointed("function")


@program
def checkpointed_two_modules() -> Program:
    return checkpointed("two modules")


@program
def checkpointed_nested() -> Program:
    return checkpointed("nested")


@program
def gradient_accumulation() -> Program:
    model = nn.Linear(100, 100, bias=False)
    return_program = training(model, torch.randn(4, 100), iterations=1)

    def run(tracker: Any) -> None:
        for turn in range(3):
            loss = model(return_program.external[2]).sum()
            loss.backward()
            del loss
            note(return_program, tracker, f"turn {turn}")
            tracker.reset_mod_stats()

    return_program.run = run
    return return_program


@program
def stopped_before_backward() -> Program:
    model = Blocks("module")
    batch = torch.randn(16, 32)

    def run(tracker: Any) -> None:
        model(batch)
        collect_cycles()
        note(program, tracker, "forward, thrown away")
        tracker.reset_mod_stats()
        model.blocks[1](batch[:4])
        collect_cycles()
        note(program, tracker, "one block alone")

    program = Program([model, batch], run)
    return program
