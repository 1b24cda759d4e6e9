"""Small training programs that both trackers watch; each makes everything anew, from one seed."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


@dataclass
class Program:
    """What is registered before the tracker is entered, and what runs inside."""

    external: list[Any]
    run: Callable[[Any], None]
    moments: dict[str, Any] = field(default_factory=dict)


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(build: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[build.__name__] = build
    return build


def training(
    model: nn.Module,
    batch: Any,
    optimizer: torch.optim.Optimizer | None = None,
    *,
    iterations: int = 1,
    backwards: int = 1,
    call: Callable[[nn.Module, Any], torch.Tensor] | None = None,
) -> Program:
    """Forward, backward and step, with a snapshot noted after each."""

    def forward(model: nn.Module, batch: Any) -> torch.Tensor:
        return model(batch).sum()

    def run(tracker: Any) -> None:
        for iteration in range(iterations):
            for backward in range(backwards):
                loss = (call or forward)(model, batch)
                note(program, tracker, f"{iteration}.{backward} forward")
                loss.backward()
                note(program, tracker, f"{iteration}.{backward} backward")
                del loss
            if optimizer is not None:
                optimizer.step()
                note(program, tracker, f"{iteration} step")
                optimizer.zero_grad()
            note(program, tracker, f"{iteration} end")
            if iteration + 1 < iterations:
                tracker.reset_mod_stats()

    program = Program([model, optimizer, batch], run)
    return program


def note(program: Program, tracker: Any, moment: str) -> None:
    program.moments[moment] = tracker.get_tracker_snapshot("current")


def collect_cycles() -> None:
    """PyTorch's hooks hold the graph in cycles (D26): about one a layer."""
    for _ in range(12):
        gc.collect()


def mlp(width: int = 64) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width), nn.GELU()
    )


@program
def perceptron() -> Program:
    return training(mlp(), torch.randn(32, 64))


@program
def perceptron_sgd() -> Program:
    model = mlp()
    return training(model, torch.randn(32, 64), torch.optim.SGD(model.parameters(), lr=0.1))


@program
def perceptron_sgd_momentum() -> Program:
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
    return training(model, torch.randn(32, 64), optimizer, iterations=2)


@program
def perceptron_adam_foreach() -> Program:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    return training(model, torch.randn(32, 64), optimizer, iterations=2)


@program
def perceptron_adam_single() -> Program:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    return training(model, torch.randn(32, 64), optimizer, iterations=2)


@program
def perceptron_adamw() -> Program:
    model = mlp()
    return training(model, torch.randn(32, 64), torch.optim.AdamW(model.parameters()), iterations=3)


@program
def convolutions_and_batch_norm() -> Program:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(16, 10),
    )
    return training(model, torch.randn(4, 3, 16, 16), torch.optim.SGD(model.parameters(), lr=0.1))


@program
def transformer_layers() -> Program:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return training(model, torch.randn(2, 8, 32), torch.optim.Adam(model.parameters()))


@program
def transformer_with_dropout() -> Program:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.1)
    model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    return training(model, torch.randn(2, 8, 32))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 50)
        self.body = nn.Linear(50, 50)
        self.head = nn.Linear(50, 50, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(self.embed(ids)))


@program
def tied_weights() -> Program:
    model = Tied()
    return training(model, torch.randint(50, (4, 7)), torch.optim.SGD(model.parameters(), lr=0.1))


class CalledTwice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(torch.relu(self.inner(x)))


@program
def module_called_twice() -> Program:
    return training(CalledTwice(), torch.randn(8, 16))


class SharedChild(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        child = nn.Linear(16, 16)
        self.first = nn.Sequential(child, nn.ReLU())
        self.second = nn.Sequential(child, nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))


@program
def shared_module() -> Program:
    return training(SharedChild(), torch.randn(8, 16))


class KeywordsOnly(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, *, x: torch.Tensor, scale: float) -> torch.Tensor:
        return self.left(input=x) * scale + self.right(x)


@program
def keyword_arguments_only() -> Program:
    return training(KeywordsOnly(), torch.randn(8, 16), call=lambda m, x: m(x=x, scale=0.5).sum())


class PartlyFrozenGraph(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.head = mlp(16), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            x = self.encoder(x)
        return self.head(x)


@program
def no_grad_part() -> Program:
    return training(PartlyFrozenGraph(), torch.randn(8, 16))


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


class ViewParameters(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        flat = torch.randn(300)
        self.middle = nn.Parameter(flat[100:200])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.middle


@program
def parameter_that_is_a_view() -> Program:
    return training(ViewParameters(), torch.randn(8, 100))


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(32))
        self.register_buffer("mean", torch.zeros(32))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(0.1 * x.detach().mean(0))
        self.steps += 1
        return (x - self.mean) * self.scale


@program
def buffers() -> Program:
    return training(Counting(), torch.randn(8, 32))


class Deep(nn.Module):
    def __init__(self, depth: int) -> None:
        super().__init__()
        self.inner = Deep(depth - 1) if depth else nn.Linear(16, 16)
        self.scale = nn.Parameter(torch.ones(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.inner(x)) * self.scale


@program
def nested_six_deep() -> Program:
    model = Deep(6)
    return training(model, torch.randn(8, 16), torch.optim.AdamW(model.parameters(), foreach=False))


@program
def storage_resizes() -> Program:
    held = torch.zeros(1000)
    model = nn.Linear(16, 16)

    def run(tracker: Any) -> None:
        model(batch).sum().backward()
        for size in (8000, 2000, 0, 4000):
            held.untyped_storage().resize_(size)
            torch.ones(1)
            note(program, tracker, f"size {size}")
        made = torch.zeros(10)
        made.resize_(500)
        torch.ones(1)
        note(program, tracker, "tensor resized")
        made.untyped_storage().resize_(64)
        note(program, tracker, "and shrunk")

    batch = torch.randn(8, 16)
    program = Program([held, model, batch], run)
    return program


@program
def results_into_given_tensors() -> Program:
    a, b = torch.randn(50), torch.randn(50)

    def run(tracker: Any) -> None:
        out = torch.empty(0)
        torch.add(a, b, out=out)
        note(program, tracker, "out grown")
        torch.mul(a[:10], 3.0, out=out[:10])
        c = a * 2.0 + 1
        c += b
        note(program, tracker, "scalars and in place")
        values, order = torch.topk(c, 5)
        torch.cat([a, b, values])
        note(program, tracker, "topk and cat")

    program = Program([a, b], run)
    return program


@program
def meta_device() -> Program:
    model = mlp().to("meta")
    return training(model, torch.randn(32, 64, device="meta"))


class Renamed(nn.Sequential):
    """Two roots of one class would share a name in PyTorch's tracker (D17)."""


@program
def cpu_and_meta() -> Program:
    model = mlp(16)
    twin = Renamed(*copy.deepcopy(model)).to("meta")
    batch = torch.randn(8, 16)

    def run(tracker: Any) -> None:
        loss = model(batch).sum()
        shadow = twin(batch.to("meta")).sum()
        note(program, tracker, "both forward")
        loss.backward()
        shadow.backward()
        note(program, tracker, "both backward")

    program = Program([model, twin, batch], run)
    return program


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


class Raises(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.tail = mlp(16), nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.tail(self.body(x)[:, :4])


@program
def exception_in_forward() -> Program:
    model = Raises()
    batch = torch.randn(8, 16)

    def run(tracker: Any) -> None:
        try:
            model(batch)
        except RuntimeError:
            pass
        collect_cycles()
        note(program, tracker, "after the exception")

    program = Program([model, batch], run)
    return program


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.LSTM(8, 16, num_layers=2, batch_first=True), nn.Linear(16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(x)[0][:, -1])


@program
def recurrent_net() -> Program:
    return training(Recurrent(), torch.randn(4, 6, 8))


class DictInAndOut(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleDict({"a": nn.Linear(8, 8), "b": nn.Linear(8, 8)})

    def forward(self, batch: dict[str, torch.Tensor]) -> dict[str, Any]:
        a, b = self.parts["a"](batch["x"]), self.parts["b"](batch["y"])
        return {"sum": a + b, "parts": [a, (b,)]}


@program
def dicts_in_and_out() -> Program:
    batch = {"x": torch.randn(4, 8), "y": torch.randn(4, 8)}
    return training(DictInAndOut(), batch, call=lambda m, x: m(x)["sum"].sum())


@program
def mixed_precision() -> Program:
    def call(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x).float().pow(2).mean()

    model = mlp(32)
    return training(model, torch.randn(8, 32), torch.optim.SGD(model.parameters(), lr=0.1), call=call)


@program
def losses_and_embeddings() -> Program:
    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.norm = nn.Embedding(40, 16), nn.LayerNorm(16)
            self.head, self.loss = nn.Linear(16, 40), nn.CrossEntropyLoss()

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            logits = self.head(self.norm(self.embed(ids)))
            return self.loss(logits.flatten(0, 1), ids.flatten())

    model = Classifier()
    return training(model, torch.randint(40, (4, 9)), torch.optim.AdamW(model.parameters()))


@program
def inference() -> Program:
    model, batch = mlp(16), torch.randn(8, 16)

    def run(tracker: Any) -> None:
        with torch.inference_mode():
            kept = model(batch)
        note(program, tracker, "inference mode")
        del kept
        with torch.no_grad():
            tracker.reset_mod_stats()
            model(batch)
        note(program, tracker, "no grad")

    program = Program([model, batch], run)
    return program
