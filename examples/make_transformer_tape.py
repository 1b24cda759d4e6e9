"""Writes transformer.tape.txt: two training steps of a small transformer, from its shapes alone.

    python examples/make_transformer_tape.py > examples/transformer.tape.txt

Nothing is run and nothing is random: every size below follows from the shapes, every birth and
death from the order in which PyTorch would compute and free.
"""

import sys
from contextlib import contextmanager
from math import prod

LAYERS, WIDTH, HEADS, VOCABULARY = 4, 256, 4, 4096
BATCH, LENGTH = 8, 128
TOKENS = BATCH * LENGTH
STEPS = 2

FLOAT, INT64, BOOL = 4, 8, 1  # bytes an element
BYTES_PER_NS = 1000  # how fast the imagined GPU writes memory
LAUNCH_NS = 5_000


def size_of(shape, element=FLOAT):
    return prod(shape) * element


class Tape:
    """The lines of a tape, with a clock that each operator moves on."""

    def __init__(self):
        self.lines = ["tape 1"]
        self.scopes = []
        self.time_ns = self.written_ns = 0

    def say(self, event, **place):
        stamp = ""
        if self.time_ns != self.written_ns:
            stamp = f"@{self.time_ns} "
        self.written_ns = self.time_ns + 1
        self.time_ns = self.written_ns
        words = [f"{key}={value}" for key, value in place.items() if value]
        self.lines.append(stamp + "  " * len(self.scopes) + " ".join([event, *words]))

    def note(self, line):
        self.lines.append(line)

    def alloc(self, name, shape, category, op, at, element=FLOAT):
        size = size_of(shape, element)
        self.say(f"alloc {name} {size} {category}", op=op, at=at)
        self.time_ns += LAUNCH_NS + size // BYTES_PER_NS
        return name

    def free(self, *names):
        for name in names:
            self.say(f"free {name}")

    def relabel(self, name, category, owner):
        self.say(f"relabel {name} {category}", scope=owner)

    @contextmanager
    def scope(self, path, inputs=(), outputs=()):
        self.say(f"begin {path}")
        self.scopes.append(path)
        for name in inputs:
            self.say(f"input {name}")
        yield
        for name in outputs:
            self.say(f"output {name}")
        self.scopes.pop()
        self.say(f"end {path}")


# --- the model -----------------------------------------------------------------------------------

def norm_parameters(path):
    return {f"{path}.weight": (WIDTH,), f"{path}.bias": (WIDTH,)}


def linear_parameters(path, n_in, n_out):
    return {f"{path}.weight": (n_out, n_in), f"{path}.bias": (n_out,)}


def layer_parameters(path):
    return {
        **norm_parameters(f"{path}.norm1"),
        **linear_parameters(f"{path}.attn.qkv", WIDTH, 3 * WIDTH),
        **linear_parameters(f"{path}.attn.out", WIDTH, WIDTH),
        **norm_parameters(f"{path}.norm2"),
        **linear_parameters(f"{path}.mlp.up", WIDTH, 4 * WIDTH),
        **linear_parameters(f"{path}.mlp.down", 4 * WIDTH, WIDTH),
    }


def model_parameters():
    parameters = {
        "model.embed.tokens.weight": (VOCABULARY, WIDTH),
        "model.embed.positions.weight": (LENGTH, WIDTH),
    }
    for layer in layers():
        parameters |= layer_parameters(layer)
    return parameters | norm_parameters("model.norm") | {"model.head.weight": (VOCABULARY, WIDTH)}


def layers():
    return [f"model.layers.{i}" for i in range(LAYERS)]


def owner_of(parameter):
    return parameter.rpartition(".")[0]


HIDDEN = (BATCH, LENGTH, WIDTH)
SCORES = (BATCH, HEADS, LENGTH, LENGTH)
LOGITS = (TOKENS, VOCABULARY)
STATISTICS = (BATCH, LENGTH, 1)


# --- set-up --------------------------------------------------------------------------------------

def set_up(tape):
    """The model moves to the GPU; only then is it known which storage is whose parameter."""
    masks = [f"{layer}.attn.mask" for layer in layers()]
    for name, shape in model_parameters().items():
        tape.alloc(name, shape, "Unknown", "aten::empty_strided", "train.py:31")
    for name in masks:
        tape.alloc(name, (LENGTH, LENGTH), "Unknown", "aten::empty_strided", "train.py:31", BOOL)
    for name in model_parameters():
        tape.relabel(name, "Parameter", owner_of(name))
    for name in masks:
        tape.relabel(name, "Buffer", owner_of(name))


# --- forward -------------------------------------------------------------------------------------
# Names end in the number of the step: each step has its own tensors.

def forward_linear(tape, path, step, x, shape, at, category="Activation"):
    y = f"{path}.y.{step}"
    with tape.scope(path, [x], [y]):
        tape.alloc(y, shape, category, "aten::addmm", at)
    return y


def forward_norm(tape, path, step, x, at):
    y, mean, rstd = (f"{path}.{part}.{step}" for part in ("y", "mean", "rstd"))
    with tape.scope(path, [x], [y]):
        tape.alloc(y, HIDDEN, "Activation", "aten::native_layer_norm", at)
        tape.alloc(mean, STATISTICS, "AutogradDetail", "aten::native_layer_norm", at)
        tape.alloc(rstd, STATISTICS, "AutogradDetail", "aten::native_layer_norm", at)
    return y


def forward_attention(tape, path, step, x):
    tensor = lambda part: f"{path}.{part}.{step}"
    y = f"{path}.out.y.{step}"
    with tape.scope(path, [x], [y]):
        forward_linear(tape, f"{path}.qkv", step, x, (BATCH, LENGTH, 3 * WIDTH), "model.py:31")
        scores = tape.alloc(tensor("scores"), SCORES, "Temporary", "aten::bmm", "model.py:34")
        scaled = tape.alloc(tensor("scaled"), SCORES, "Temporary", "aten::div", "model.py:34")
        tape.free(scores)
        masked = tape.alloc(tensor("masked"), SCORES, "Temporary", "aten::masked_fill",
                            "model.py:35")
        tape.free(scaled)
        tape.alloc(tensor("weights"), SCORES, "Activation", "aten::_softmax", "model.py:36")
        tape.free(masked)
        mixed = tape.alloc(tensor("mixed"), HIDDEN, "Temporary", "aten::bmm", "model.py:37")
        merged = tape.alloc(tensor("merged"), HIDDEN, "Activation", "aten::clone", "model.py:38")
        tape.free(mixed)
        forward_linear(tape, f"{path}.out", step, merged, HIDDEN, "model.py:39", "Temporary")
    return y


def forward_mlp(tape, path, step, x):
    y = f"{path}.down.y.{step}"
    wide = (BATCH, LENGTH, 4 * WIDTH)
    with tape.scope(path, [x], [y]):
        forward_linear(tape, f"{path}.up", step, x, wide, "model.py:52")
        act = tape.alloc(f"{path}.act.{step}", wide, "Activation", "aten::gelu", "model.py:53")
        forward_linear(tape, f"{path}.down", step, act, HIDDEN, "model.py:54", "Temporary")
    return y


def forward_layer(tape, layer, step, x):
    y = f"{layer}.y.{step}"
    with tape.scope(layer, [x], [y]):
        normed = forward_norm(tape, f"{layer}.norm1", step, x, "model.py:70")
        branch = forward_attention(tape, f"{layer}.attn", step, normed)
        middle = tape.alloc(f"{layer}.middle.{step}", HIDDEN, "Activation", "aten::add",
                            "model.py:70")
        tape.free(branch)
        normed = forward_norm(tape, f"{layer}.norm2", step, middle, "model.py:71")
        branch = forward_mlp(tape, f"{layer}.mlp", step, normed)
        tape.alloc(y, HIDDEN, "Activation", "aten::add", "model.py:71")
        tape.free(branch)
    return y


def forward_embed(tape, step, tokens):
    y = f"model.embed.y.{step}"
    parts = {"tokens": HIDDEN, "positions": (LENGTH, WIDTH)}
    with tape.scope("model.embed", [tokens], [y]):
        for part, shape in parts.items():
            with tape.scope(f"model.embed.{part}", outputs=[f"model.embed.{part}.y.{step}"]):
                tape.alloc(f"model.embed.{part}.y.{step}", shape, "Temporary", "aten::embedding",
                           "model.py:84")
        tape.alloc(y, HIDDEN, "Activation", "aten::add", "model.py:84")
        tape.free(*(f"model.embed.{part}.y.{step}" for part in parts))
    return y


def forward(tape, step, tokens):
    tape.say("phase forward")
    logits = f"model.head.y.{step}"
    with tape.scope("model", [tokens], [logits]):
        x = forward_embed(tape, step, tokens)
        for layer in layers():
            x = forward_layer(tape, layer, step, x)
        x = forward_norm(tape, "model.norm", step, x, "model.py:93")
        with tape.scope("model.head", [x], [logits]):
            tape.alloc(logits, LOGITS, "Activation", "aten::mm", "model.py:94")
    tape.alloc(f"log_probabilities.{step}", LOGITS, "Activation", "aten::_log_softmax",
               "train.py:44")
    tape.alloc(f"loss.{step}", (1,), "Activation", "aten::nll_loss_forward", "train.py:44")


# --- backward ------------------------------------------------------------------------------------
# g:NAME is the gradient of a tensor inside the graph; grad:NAME the one a parameter keeps.

def keep_gradient(tape, parameter, step, op):
    name = f"grad:{parameter}.{step}"
    tape.alloc(name, model_parameters()[parameter], "Temporary", op, "train.py:45")
    tape.relabel(name, "Gradient", owner_of(parameter))


def backward_linear(tape, path, step, grad_x, shape_x):
    with tape.scope(path):
        tape.alloc(grad_x, shape_x, "Temporary", "aten::mm", "train.py:45")
        keep_gradient(tape, f"{path}.weight", step, "aten::mm")
        keep_gradient(tape, f"{path}.bias", step, "aten::sum")
    return grad_x


def backward_norm(tape, path, step, grad):
    with tape.scope(path):
        inner = tape.alloc(f"g:{path}.inner.{step}", HIDDEN, "Temporary",
                           "aten::native_layer_norm_backward", "train.py:45")
        keep_gradient(tape, f"{path}.weight", step, "aten::native_layer_norm_backward")
        keep_gradient(tape, f"{path}.bias", step, "aten::native_layer_norm_backward")
        tape.free(grad, *(f"{path}.{part}.{step}" for part in ("mean", "rstd")))
    return inner


def backward_mlp(tape, path, step):
    wide = (BATCH, LENGTH, 4 * WIDTH)
    with tape.scope(path):
        act = backward_linear(tape, f"{path}.down", step, f"g:{path}.act.{step}", wide)
        tape.free(f"{path}.act.{step}")
        up = tape.alloc(f"g:{path}.up.{step}", wide, "Temporary", "aten::gelu_backward",
                        "train.py:45")
        tape.free(act, f"{path}.up.y.{step}")
        grad = backward_linear(tape, f"{path}.up", step, f"g:{path}.{step}", HIDDEN)
        tape.free(up)
    return grad


def backward_attention(tape, path, step):
    tensor = lambda part: f"{path}.{part}.{step}"
    grad_of = lambda part, shape, op: tape.alloc(f"g:{path}.{part}.{step}", shape, "Temporary", op,
                                                 "train.py:45")
    with tape.scope(path):
        merged = backward_linear(tape, f"{path}.out", step, f"g:{path}.merged.{step}", HIDDEN)
        tape.free(tensor("merged"))
        weights = grad_of("weights", SCORES, "aten::bmm")
        value = grad_of("value", HIDDEN, "aten::bmm")
        tape.free(merged)
        scores = grad_of("scores", SCORES, "aten::_softmax_backward_data")
        tape.free(weights, tensor("weights"))
        query, key = grad_of("query", HIDDEN, "aten::bmm"), grad_of("key", HIDDEN, "aten::bmm")
        tape.free(scores)
        joined = grad_of("qkv", (BATCH, LENGTH, 3 * WIDTH), "aten::cat")
        tape.free(query, key, value, f"{path}.qkv.y.{step}")
        grad = backward_linear(tape, f"{path}.qkv", step, f"g:{path}.{step}", HIDDEN)
        tape.free(joined)
    return grad


def backward_residual(tape, name, step, around, inner):
    """Adds what came around the branch to what came through it."""
    total = tape.alloc(f"g:{name}.{step}", HIDDEN, "Temporary", "aten::add", "train.py:45")
    tape.free(around, inner)
    return total


def backward_layer(tape, layer, step, grad):
    with tape.scope(layer):
        inner = backward_mlp(tape, f"{layer}.mlp", step)
        tape.free(f"{layer}.norm2.y.{step}")
        inner = backward_norm(tape, f"{layer}.norm2", step, inner)
        grad = backward_residual(tape, f"{layer}.middle", step, grad, inner)
        tape.free(f"{layer}.middle.{step}")
        inner = backward_attention(tape, f"{layer}.attn", step)
        tape.free(f"{layer}.norm1.y.{step}")
        inner = backward_norm(tape, f"{layer}.norm1", step, inner)
        return backward_residual(tape, layer, step, grad, inner)


def backward_head(tape, step, grad):
    with tape.scope("model.head"):
        grad_x = tape.alloc(f"g:model.norm.y.{step}", HIDDEN, "Temporary", "aten::mm",
                            "train.py:45")
        keep_gradient(tape, "model.head.weight", step, "aten::mm")
        tape.free(grad, f"model.norm.y.{step}")
    return grad_x


def backward_embed(tape, step, grad):
    with tape.scope("model.embed"):
        for part in ("positions", "tokens"):
            with tape.scope(f"model.embed.{part}"):
                keep_gradient(tape, f"model.embed.{part}.weight", step,
                              "aten::embedding_dense_backward")
        tape.free(grad)


def backward(tape, step):
    tape.say("phase backward")
    grad = tape.alloc(f"g:model.head.y.{step}", LOGITS, "Temporary",
                      "aten::_log_softmax_backward_data", "train.py:45")
    tape.free(f"log_probabilities.{step}")
    with tape.scope("model"):
        grad = backward_head(tape, step, grad)
        grad = backward_norm(tape, "model.norm", step, grad)
        outputs = ["model.embed", *layers()]
        for layer in reversed(layers()):
            tape.free(f"{outputs.pop()}.y.{step}")
            grad = backward_layer(tape, layer, step, grad)
        tape.free(f"model.embed.y.{step}")
        backward_embed(tape, step, grad)


# --- the optimizer and the loop ------------------------------------------------------------------

def optimizer_step(tape, step):
    """AdamW over lists of tensors: the moments are born in the first step, the denominators of all
    parameters are alive at once."""
    tape.say("phase optimizer")
    parameters = model_parameters()
    if step == 1:
        for name, shape in parameters.items():
            for moment in ("exp_avg", "exp_avg_sq"):
                tape.alloc(f"{moment}:{name}", shape, "OptimizerState", "aten::zeros_like",
                           "train.py:46")
    for name, shape in parameters.items():
        tape.alloc(f"denominator:{name}.{step}", shape, "Temporary", "aten::_foreach_sqrt",
                   "train.py:46")
    tape.free(*(f"denominator:{name}.{step}" for name in parameters))


def zero_gradients(tape, step):
    tape.free(*(f"grad:{name}.{step}" for name in model_parameters()))


def train_step(tape, step):
    tape.say("step")
    tape.say("phase other")
    if step > 1:
        zero_gradients(tape, step - 1)
    tokens, targets = f"tokens.{step}", f"targets.{step}"
    for name in (tokens, targets):
        tape.alloc(name, (BATCH, LENGTH), "Input", "aten::_to_copy", "train.py:41", INT64)
    forward(tape, step, tokens)
    backward(tape, step)
    optimizer_step(tape, step)
    tape.say("phase other")
    # The loop's own variables hold the logits until the step is over.
    tape.free(f"model.head.y.{step}", f"loss.{step}", tokens, targets)


def make_tape():
    tape = Tape()
    tape.note(f'meta model "transformer: {LAYERS} layers, width {WIDTH}, {HEADS} heads, '
              f'vocabulary {VOCABULARY}"')
    tape.note(f'meta batch "{BATCH} x {LENGTH} tokens, float32, AdamW"')
    tape.note("meta script train.py")
    tape.note("device cuda:0")
    set_up(tape)
    for step in range(1, STEPS + 1):
        train_step(tape, step)
    return "\n".join(tape.lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(make_tape())
