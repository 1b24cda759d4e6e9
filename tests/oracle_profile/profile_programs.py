"""Programs to be profiled: each function sets something up and returns what runs under the profiler."""

from __future__ import annotations

import threading
from collections.abc import Callable

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

Body = Callable[[], object]
PROGRAMS: dict[str, Callable[[], Body]] = {}


def program(make: Callable[[], Body]) -> Callable[[], Body]:
    PROGRAMS[make.__name__] = make
    return make


class Scale(nn.Module):
    """Multiplies by a parameter, made at once or in the first forward."""

    def __init__(self, lazy: bool = False) -> None:
        super().__init__()
        if not lazy:
            self.factor = nn.Parameter(torch.tensor([2.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not hasattr(self, "factor"):
            self.factor = nn.Parameter(torch.rand(x.shape[-1]))
        return x * self.factor


def two_layers() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 2), Scale(), nn.Linear(2, 1, bias=False), Scale())


def step(model: nn.Module, optimizer: torch.optim.Optimizer, *xs: torch.Tensor) -> None:
    for x in xs:
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def training(model: nn.Module, make_optimizer: Callable[..., torch.optim.Optimizer],
             *shape: int, times: int = 2, **options: object) -> Body:  # fmt: skip
    optimizer = make_optimizer(model.parameters(), **options)
    xs = [torch.rand(*shape) for _ in range(times)]
    return lambda: step(model, optimizer, *xs)


# Without modules or gradients.


@program
def nothing_at_all() -> Body:
    return lambda: None


@program
def result_thrown_away() -> Body:
    x = torch.ones(3)
    return lambda: (x.mul(2), None)[1]


@program
def views_and_products() -> Body:
    x, y = torch.ones(25), torch.ones(1)
    return lambda: x.mul(y).view_as(x)


@program
def products_that_need_gradients() -> Body:
    x, y = torch.ones(25), torch.ones(1, requires_grad=True)
    return lambda: x.mul(y).view_as(x)


@program
def written_in_place() -> Body:
    x, y = torch.ones(25), torch.ones(1)
    return lambda: x.mul_(y)


@program
def written_in_place_with_gradients() -> Body:
    x, y = torch.ones(25), torch.ones(1, requires_grad=True)
    return lambda: x.mul_(y)


@program
def inside_annotations() -> Body:
    x, y = torch.ones(4), torch.ones(4)

    def body() -> object:
        with torch.profiler.record_function("outer"), torch.profiler.record_function("in::ner"):
            x.zero_(), y.zero_()
            return torch.ones_like(x), torch.zeros_like(y)

    return body


@program
def results_into_given_tensors() -> Body:
    def body() -> object:
        y = torch.ones(50).mul(2).add_(2)
        z = torch.empty_like(y)
        torch.sin(y, out=z)
        return torch.add(y, z, out=torch.empty(3).resize_(50))

    return body


@program
def lists_of_tensors() -> Body:
    xs = [torch.rand(2, 3) for _ in range(3)]

    def body() -> object:
        joined = torch.stack([torch.cat(xs), torch.cat(xs[::-1])])
        return torch._foreach_add(list(joined.unbind()), 1.0), torch._foreach_mul_(xs, 2.0)

    return body


@program
def parts_of_tensors() -> Body:
    x = torch.rand(8, 8)

    def body() -> object:
        x[2:4].fill_(1)
        x[:, 0].copy_(x.t()[0])
        index = torch.tensor([1, 3])
        x[index] = 0
        return x.gather(0, index[None]), x.expand(3, 8, 8).contiguous().chunk(2)

    return body


@program
def born_and_dead_inside() -> Body:
    before = [torch.empty(1024)]

    def body() -> None:
        before.clear()
        unused = torch.empty(64)
        used = torch.empty(256)
        used.fill_(1)
        del unused, used

    return body


@program
def many_types() -> Body:
    types = (torch.int8, torch.float64, torch.complex64, torch.bool, torch.bfloat16, torch.int64)

    def body() -> object:
        return [torch.zeros(5).to(dtype).add(torch.ones(5).to(dtype)) for dtype in types]

    return body


@program
def storages_exchanged() -> Body:
    x, y = torch.rand(6), torch.rand(6)

    def body() -> object:
        x.data = y.clone()
        x.add_(1)
        y.set_(torch.rand(12))
        return x + 1, y * 2, x.resize_(600).zero_()

    return body


@program
def scalars_of_all_kinds() -> Body:
    x = torch.rand(4)
    return lambda: (x + True, x + 1, x * 1.5, x * 1j, x.clamp(0, None), x.sum(0, dtype=x.dtype))


# Gradients without modules.


@program
def gradients_low_level() -> Body:
    x = torch.ones(1)
    w0, w1 = (torch.ones(1, requires_grad=True) for _ in range(2))

    def body() -> None:
        for _ in range(2):
            (x.expand(4) * w0 * w1).sum().backward()

    return body


@program
def one_sine_backward() -> Body:
    x, w = torch.ones(1), torch.ones(1, requires_grad=True)
    return lambda: (x * w).sin().backward()


@program
def stacked_products() -> Body:
    x = torch.ones(25)
    w0, w1 = (torch.ones(1, requires_grad=True) for _ in range(2))

    def body() -> None:
        x.mul(w0).relu().mul(w1).relu().sum()
        for _ in range(2):
            x.mul(w0).relu().mul(w1).relu().sum().backward()

    return body


def raw_weights(backward: bool, stepping: bool) -> Body:
    w0, w1 = (torch.rand(2, 3, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD([w0, w1], lr=0.1)

    def body() -> None:
        x, targets = torch.rand(2, 3), torch.rand(2, 6)
        loss = (torch.cat([x * w0, x * w1], dim=1) - targets).square().mean()
        if backward:
            loss.backward()
        if stepping:
            optimizer.step()

    return body


@program
def raw_weights_forward() -> Body:
    return raw_weights(False, False)


@program
def raw_weights_backward() -> Body:
    return raw_weights(True, False)


@program
def raw_weights_step() -> Body:
    return raw_weights(True, True)


@program
def step_by_hand() -> Body:
    w = torch.rand(3, requires_grad=True)

    def body() -> None:
        for _ in range(2):
            (torch.rand(4, 3) * w).sum().backward()
            with torch.no_grad():
                w.add_(w.grad, alpha=-0.1)
            w.grad = None

    return body


@program
def gradients_of_gradients() -> Body:
    w = torch.rand(3, requires_grad=True)

    def body() -> None:
        (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
        g.square().sum().backward()

    return body


@program
def own_backward_function() -> Body:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2 + ctx.saved_tensors[0] * 0

    w = torch.rand(9, requires_grad=True)
    return lambda: Double.apply(w * 3).sum().backward()


# Modules and optimizers.


@program
def linear_forward() -> Body:
    model, x = nn.Linear(2, 1), torch.rand(5, 2)
    return lambda: model(x)


@program
def linear_backward() -> Body:
    model, x = nn.Linear(2, 1), torch.rand(5, 2)
    return lambda: nn.functional.mse_loss(model(x), torch.rand(5, 1)).backward()


@program
def linear_momentum() -> Body:
    return training(nn.Linear(2, 1), torch.optim.SGD, 5, 2, lr=0.1, momentum=0.9)


@program
def softmax_after_relu() -> Body:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2), nn.Softmax(dim=1))
    x, targets = torch.rand(3, 2), torch.rand(3, 2)
    return lambda: ((model(x) - targets) ** 2).mean().backward()


@program
def forward_with_warm_gradients() -> Body:
    model, x = two_layers(), torch.rand(4, 2)
    model(x).sum().backward()
    return lambda: model(x)


@program
def plain_steps() -> Body:
    return training(two_layers(), torch.optim.SGD, 4, 2, lr=0.1, times=3)


@program
def gradients_kept_as_zeros() -> Body:
    model = two_layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)

    def body() -> None:
        for _ in range(2):
            optimizer.zero_grad(set_to_none=False)
            model(torch.rand(4, 2)).sum().backward()
            optimizer.step()

    return body


@program
def gradients_accumulated() -> Body:
    model = two_layers()
    return lambda: [model(torch.rand(4, 2)).sum().backward() for _ in range(3)]


@program
def adam_one_by_one() -> Body:
    return training(two_layers(), torch.optim.Adam, 4, 2, foreach=False)


@program
def adam_foreach() -> Body:
    return training(two_layers(), torch.optim.Adam, 4, 2, foreach=True)


@program
def adamw_fused() -> Body:
    return training(two_layers(), torch.optim.AdamW, 4, 2, fused=True)


@program
def sgd_foreach_nesterov() -> Body:
    return training(two_layers(), torch.optim.SGD, 4, 2, foreach=True, momentum=0.9, nesterov=True)


@program
def adagrad() -> Body:
    return training(two_layers(), torch.optim.Adagrad, 4, 2)


@program
def built_in_the_profile() -> Body:
    model = nn.Sequential(Scale(lazy=True), nn.LazyLinear(3), Scale(lazy=True))

    def body() -> None:
        model(torch.rand(2, 4)).sum()
        step(model, torch.optim.SGD(model.parameters(), lr=0.1), *torch.rand(3, 2, 4))

    return body


@program
def inputs_before_and_within() -> Body:
    model = nn.Sequential(Scale(), Scale())
    early = [torch.ones(2, 2), torch.ones(2, 2)]

    def body() -> None:
        for x in (*early, torch.ones(2, 2), torch.ones(2, 2)):
            model(x).sum().backward()

    return body


@program
def tied_weights() -> Body:
    model = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 4), nn.Linear(4, 10, bias=False))
    model[2].weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    tokens = torch.randint(10, (2, 3))
    return lambda: step(model, optimizer, tokens)


@program
def sparse_gradients() -> Body:
    model = nn.Embedding(10, 4, sparse=True)
    optimizer = torch.optim.SparseAdam(model.parameters())
    tokens = torch.randint(10, (2, 3))
    return lambda: step(model, optimizer, tokens)


@program
def frozen_parameters() -> Body:
    model = two_layers()
    model[0].requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained)
    return lambda: step(model, optimizer, torch.rand(4, 2))


@program
def normalised_convolutions() -> Body:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True),
                          nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(2))  # fmt: skip
    model(torch.rand(2, 1, 8, 8))
    return training(model, torch.optim.SGD, 2, 1, 8, 8, lr=0.1, momentum=0.9)


@program
def recurrent() -> Body:
    model = nn.LSTM(3, 4)
    return lambda: model(torch.rand(5, 2, 3))[0].sum().backward()


def transformer(layers: int) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.1)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


@program
def transformer_steps() -> Body:
    return training(transformer(2), torch.optim.AdamW, 2, 4, 16)


@program
def transformer_in_mixed_precision() -> Body:
    run = training(transformer(1), torch.optim.AdamW, 2, 4, 16)

    def body() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            run()

    return body


def checkpointed(use_reentrant: bool) -> Body:
    model = transformer(2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def body() -> None:
        x = torch.rand(2, 4, 16, requires_grad=use_reentrant)
        for layer in model.layers:
            x = checkpoint(layer, x, use_reentrant=use_reentrant)
        x.sum().backward()
        optimizer.step()

    return body


@program
def checkpoints() -> Body:
    return checkpointed(False)


@program
def reentrant_checkpoints() -> Body:
    return checkpointed(True)


@program
def clipped_gradients() -> Body:
    model = two_layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def body() -> None:
        model(torch.rand(4, 2)).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()

    return body


@program
def without_gradients() -> Body:
    model = transformer(1).eval()

    def body() -> None:
        with torch.no_grad():
            model(torch.rand(1, 4, 16))

    return body


@program
def several_threads() -> Body:
    models = [two_layers() for _ in range(3)]

    def run(model: nn.Module) -> None:
        model(torch.rand(4, 2)).sum().backward()

    def body() -> None:
        threads = [threading.Thread(target=run, args=(model,)) for model in models]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run(models[0])

    return body
