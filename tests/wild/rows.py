"""What is known by hand of each script of this folder: its parameters, its least bytes, its steps."""

from __future__ import annotations

from dataclasses import dataclass

# Bytes of a float parameter at an optimizer's step, with its gradient and what the optimizer keeps.
SGD, MOMENTUM, ADAM = 8, 12, 16


@dataclass(frozen=True)
class Row:
    """A script, the bytes it holds at least at its peak, and how many times that is still plausible.

    `bytes_each` is of a parameter with all that goes with it; `beside` are bytes of other tensors that
    are alive at the same moment. A step begins with a forward and ends with what optimizers do before
    the next one: the two networks of a GAN make two, two optimizers of one loss make one.
    """

    script: str
    parameters: int
    bytes_each: int
    steps: int
    at_most: float
    beside: int = 0
    flags: tuple[str, ...] = ()

    @property
    def least_bytes(self) -> int:
        return self.parameters * self.bytes_each + self.beside


def encoder_layer(c: int) -> int:
    """A TransformerEncoderLayer, a block of GPT-2: attention 4, feed-forward 8, biases, norms."""
    return 12 * c * c + 13 * c


def linear(*sizes: int) -> int:
    """Linear layers with biases, one after the other."""
    return sum(i * o + o for i, o in zip(sizes, sizes[1:], strict=False))


def conv_norm(inputs: int, outputs: int, kernel: int = 3) -> int:
    """A convolution without bias, and the batch norm after it."""
    return kernel * kernel * inputs * outputs + 2 * outputs


def unet_block(i: int, o: int, time: int) -> int:
    """Two group norms, two convolutions with biases, the time's layer, the skip's convolution."""
    return 2 * i + (9 * i * o + o) + linear(time, o) + 2 * o + (9 * o * o + o) + (i * o + o)


def nanogpt(c: int = 128, layers: int = 2, vocab: int = 512, length: int = 64) -> int:
    return vocab * c + length * c + layers * (12 * c * c + 2 * c) + c


def dcgan(w: int = 16, noise: int = 64) -> int:
    middle = conv_norm(8 * w, 4 * w, 4) + conv_norm(4 * w, 2 * w, 4) + conv_norm(2 * w, w, 4)
    generator = conv_norm(noise, 8 * w, 4) + middle + 16 * 3 * w
    back = conv_norm(w, 2 * w, 4) + conv_norm(2 * w, 4 * w, 4) + conv_norm(4 * w, 8 * w, 4)
    return generator + 16 * 3 * w + back + 16 * 8 * w


def unet(w: int = 32) -> int:
    blocks = unet_block(w, 2 * w, 4 * w) + unet_block(2 * w, 2 * w, 4 * w) + unet_block(3 * w, w, 4 * w)
    return linear(w, 4 * w, 4 * w) + (27 * w + w) + blocks + (27 * w + 3)


def residual_net(w: int = 32) -> int:
    stages = sum(4 * conv_norm(s, s) + conv_norm(s, 2 * s) for s in (w, 2 * w, 4 * w))
    return conv_norm(3, w) + stages + linear(8 * w, 100)


def lstm(w: int = 128, vocab: int = 1000) -> int:
    return vocab * w + 2 * (8 * w * w + 8 * w) + linear(w, vocab)


C = 128
RANKS = 4
TORCHRUN = ("torchrun", "--nproc-per-node", str(RANKS))
MNIST = (9 * 32 + 32) + (9 * 32 * 64 + 64) + linear(9216, 128, 10)
PER_SAMPLE = (9 * 16 + 16) + (9 * 16 * 32 + 32) + linear(32 * 12 * 12, 64, 10)
PAIR_NET = (27 * 32 + 32) + 2 * 32 + (9 * 32 * 64 + 64) + 2 * 64 + linear(64 * 8 * 8, 10)
DLRM_DENSE = linear(13, 64, 32) + linear(32 + 10, 64, 1)

ROWS = [
    Row("nanogpt", nanogpt(), ADAM, steps=4, at_most=3),
    Row("mingpt", (10 + 32 + 10) * C + 3 * encoder_layer(C), ADAM, steps=4, at_most=10),
    # The largest moment is the test: what the second convolution returns, and its relu.
    Row("mnist", MNIST, ADAM, steps=6, at_most=1.5, beside=2 * 4 * 256 * 64 * 24 * 24),
    Row("dcgan", dcgan(), ADAM, steps=6, at_most=4),
    Row("hf_trainer", (1000 + 64) * C + 2 * encoder_layer(C) + 2 * C, ADAM, steps=4, at_most=4),
    # The reference is another copy.
    Row("trl_ppo", 2 * 256 * C + 2 * encoder_layer(C) + C + 1, ADAM + 4, steps=4, at_most=2),
    Row("diffusion", unet(), ADAM + 4, steps=3, at_most=10),
    Row("timm_mixup", residual_net(), MOMENTUM + 4, steps=3, at_most=4),
    Row("lightning_loop", linear(784, 256, 16, 256, 784), ADAM, steps=8, at_most=2),
    # In bfloat16 everything is half as large.
    Row("litgpt_meta", 2 * 512 * C + 3 * (2 * C + 4 * C * C + 3 * 352 * C) + C, ADAM // 2, steps=3,
        at_most=4),
    Row("attention_bias", 256 * C + 32 * 4 + 2 * (12 * C * C + 7 * C) + 2 * C, ADAM, steps=3,
        at_most=4),
    Row("cleanrl_ppo", linear(4, 64, 64, 1) + linear(4, 64, 64, 2), ADAM, steps=8, at_most=2.5),
    Row("geometric", 500 * 64 + 64 + linear(64, 7) + 64 * 7, ADAM, steps=3, at_most=3,
        beside=4 * 2000 * 500),
    # DDP's buckets hold each gradient once more.
    Row("ddp_spawn", linear(64, 512, 512, 10), SGD + 4, steps=4, at_most=3, flags=("--gpus", "2")),
    # Each rank has its part; so the bytes are those of a part of the parameters.
    Row("fsdp2_torchrun", (2 * 512 * 256 + 4 * encoder_layer(256)) // RANKS, ADAM, steps=3, at_most=4,
        flags=TORCHRUN),
    Row("hf_trainer_fsdp", ((1000 + 64) * 256 + 4 * encoder_layer(256) + 2 * 256) // RANKS, ADAM, steps=3,
        at_most=4, flags=TORCHRUN),
    Row("tensor_parallel", 3 * (2 * 512 + 8 * 512 * 512 // RANKS) + linear(512, 10), ADAM, steps=3,
        at_most=2, flags=TORCHRUN),
    Row("data_parallel", PAIR_NET, MOMENTUM, steps=3, at_most=12, flags=("--gpus", "2")),
    Row("accelerate_loop", linear(128, 512, 512, 4), ADAM, steps=4, at_most=2),
    Row("masked_lm", (2000 + 64) * C + 2 * C + 2 * encoder_layer(C) + linear(C, 2000), ADAM, steps=3,
        at_most=4),
    # cuDNN has 8 MiB for each layer, besides what grows with the net.
    Row("lstm_bptt", lstm(), ADAM, steps=5, at_most=2, beside=2 * (8 << 20)),
    # A table's gradient has the rows of the batch alone; SparseAdam keeps two more tables.
    Row("recommender", 4 * 10_000 * 32, 12, steps=3, at_most=2, beside=DLRM_DENSE * MOMENTUM),
    Row("legacy_compiled", 4 * linear(256, 256) + linear(256, 5), MOMENTUM, steps=3, at_most=2),
    # Sixteen samples, a gradient for each; the parameter and its momentum.
    Row("per_sample_gradients", PER_SAMPLE, 4 * (16 + 2), steps=3, at_most=2),
    Row("offloaded", 6 * (2 * C + linear(C, 4 * C, C)) + linear(C, C), ADAM, steps=4, at_most=3.5),
]
