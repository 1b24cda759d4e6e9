"""Programs of ordinary nets and optimizers, and of modules called in unusual ways."""

from __future__ import annotations

from typing import Any

import torch
from program_kit import Program, mlp, note, program, training
from torch import nn


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
def steps_in_the_backward() -> Program:
    """Each parameter is stepped, and its gradient dropped, as soon as that is accumulated."""
    model = mlp()
    optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in model.parameters()}

    def step(parameter: torch.Tensor) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in optimizers:
        parameter.register_post_accumulate_grad_hook(step)
    return training(model, torch.randn(32, 64), iterations=2)


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
