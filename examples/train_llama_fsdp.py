"""Llama shapes from 1B to 405B in plain PyTorch, sharded with FSDP2, started by torchrun.

    torchrun --nproc-per-node 8 examples/train_llama_fsdp.py --size 8B
    tidemark estimate --world-size 8 examples/train_llama_fsdp.py --size 8B
"""

import argparse
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)


@dataclass
class Shape:
    width: int
    layers: int
    heads: int
    key_heads: int
    hidden: int
    vocabulary: int = 128_256


SHAPES = {
    "tiny": Shape(64, 2, 4, 2, 128, 256),
    "1B": Shape(2_048, 16, 32, 8, 8_192),
    "8B": Shape(4_096, 32, 32, 8, 14_336),
    "70B": Shape(8_192, 80, 64, 8, 28_672),
    "405B": Shape(16_384, 126, 128, 8, 53_248),
}


def rotate(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.size = shape.width // shape.heads
        self.q = nn.Linear(shape.width, shape.heads * self.size, bias=False)
        self.k = nn.Linear(shape.width, shape.key_heads * self.size, bias=False)
        self.v = nn.Linear(shape.width, shape.key_heads * self.size, bias=False)
        self.out = nn.Linear(shape.heads * self.size, shape.width, bias=False)

    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        q, k, v = (p(x).unflatten(-1, (-1, self.size)).transpose(1, 2) for p in (self.q, self.k, self.v))
        attended = F.scaled_dot_product_attention(
            rotate(q, cosine, sine), rotate(k, cosine, sine), v, is_causal=True, enable_gqa=True)
        return self.out(attended.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(shape.width), nn.RMSNorm(shape.width)
        self.attention, self.feed_forward = Attention(shape), FeedForward(shape)

    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x), cosine, sine)
        return x + self.feed_forward(self.norm2(x))


class Llama(nn.Module):
    def __init__(self, shape: Shape, length: int) -> None:
        super().__init__()
        self.length, self.size = length, shape.width // shape.heads
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        self.register_buffer("cosine", torch.empty(length, self.size), persistent=False)
        self.register_buffer("sine", torch.empty(length, self.size), persistent=False)

    @torch.no_grad()
    def initialise(self) -> None:
        """After to_empty: a model made on the meta device has no values."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.02) if parameter.dim() > 1 else nn.init.ones_(parameter)
        device = self.cosine.device
        waves = 500_000 ** (-torch.arange(0, self.size, 2, device=device) / self.size)
        angles = torch.outer(torch.arange(self.length, device=device), waves).repeat(1, 2)
        self.cosine.copy_(angles.cos())
        self.sine.copy_(angles.sin())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        return self.head(self.norm(x))


def split_tensors(model: Llama, mesh: DeviceMesh) -> None:
    """Tensor parallel with sequence parallel between the blocks."""
    whole = PrepareModuleInput(input_layouts=(Shard(1), None, None),
                               desired_input_layouts=(Replicate(), None, None))
    parallelize_module(model, mesh, {
        "tokens": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
    })
    for block in model.blocks:
        parallelize_module(block, mesh, {
            "norm1": SequenceParallel(),
            "attention": whole,
            "attention.q": ColwiseParallel(),
            "attention.k": ColwiseParallel(),
            "attention.v": ColwiseParallel(),
            "attention.out": RowwiseParallel(output_layouts=Shard(1)),
            "norm2": SequenceParallel(),
            "feed_forward": PrepareModuleInput(input_layouts=(Shard(1),),
                                               desired_input_layouts=(Replicate(),)),
            "feed_forward.gate": ColwiseParallel(),
            "feed_forward.up": ColwiseParallel(),
            "feed_forward.down": RowwiseParallel(output_layouts=Shard(1)),
        })


def make_mesh(tensor_parallel: int, replicas: int) -> DeviceMesh:
    """Of three dimensions: copies of the shards, shards, and the parts of a split tensor."""
    shards = dist.get_world_size() // (tensor_parallel * replicas)
    return init_device_mesh("cuda", (replicas, shards, tensor_parallel),
                            mesh_dim_names=("replicate", "shard", "tensor"))


def make_model(args: argparse.Namespace) -> Llama:
    mesh = make_mesh(args.tensor_parallel, args.replicas)
    with torch.device("meta"):
        model = Llama(SHAPES[args.size], args.length)
    model.to(torch.float32 if args.mixed_precision else torch.bfloat16)
    if args.tensor_parallel > 1:
        split_tensors(model, mesh["tensor"])
    if args.checkpoint:
        for index, block in enumerate(model.blocks):
            model.blocks[index] = checkpoint_wrapper(block)
    how = {
        "mesh": mesh["replicate", "shard"] if args.replicas > 1 else mesh["shard"],
        "reshard_after_forward": args.reshard,
        "mp_policy": (MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
                      if args.mixed_precision else MixedPrecisionPolicy()),
        "offload_policy": CPUOffloadPolicy() if args.offload else OffloadPolicy(),
    }
    for block in model.blocks:
        fully_shard(block, **how)
    fully_shard(model, **how)
    model.to_empty(device="cpu" if args.offload else "cuda")
    if args.offload:
        model.cosine, model.sine = model.cosine.cuda(), model.sine.cuda()
    model.initialise()
    return model


def train(args: argparse.Namespace) -> None:
    vocabulary = SHAPES[args.size].vocabulary
    model = make_model(args)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=args.fused or None)
    for step in range(args.steps):
        ids = torch.randint(vocabulary, (args.batch, args.length + 1), device="cuda")
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
        del logits
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG)
        if dist.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SHAPES, default="8B")
    parser.add_argument("--length", type=int, default=8_192)
    parser.add_argument("--batch", type=int, default=1, help="sequences a rank")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpoint", action=argparse.BooleanOptionalAction, default=True,
                        help="compute activations again in the backward")
    parser.add_argument("--reshard", action=argparse.BooleanOptionalAction, default=True,
                        help="free gathered parameters after the forward")
    parser.add_argument("--mixed-precision", action="store_true",
                        help="fp32 shards, gathered and computed in bf16")
    parser.add_argument("--offload", action="store_true", help="shards and optimizer on the CPU")
    parser.add_argument("--fused", action="store_true", help="the fused AdamW")
    parser.add_argument("--tensor-parallel", type=int, default=1, metavar="N")
    parser.add_argument("--replicas", type=int, default=1, metavar="N",
                        help="copies of the shards (HSDP)")
    args = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    train(args)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
