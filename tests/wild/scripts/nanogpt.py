"""nanoGPT's idiom: settings as globals, a memory-mapped corpus, autocast with a GradScaler,
gradient accumulation, and a checkpoint from which a second run resumes."""

import math
import os
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

scale = int(os.environ.get("WILD_SCALE", "1"))
n_layer, n_head, n_embd, block_size, vocab_size = 2 * scale, 4, 128 * scale, 64 * scale, 512
batch_size, accumulation, max_iters, learning_rate = 4, 2, 2, 1e-3
out_dir, data_dir = Path("out"), Path("data")
device_type = "cuda" if torch.cuda.is_available() else "cpu"
on_gpu = device_type == "cuda"
context = torch.autocast("cuda", dtype=torch.float16) if on_gpu else nullcontext()
torch.manual_seed(1337)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1 = nn.LayerNorm(n_embd, bias=False)
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.proj = nn.Linear(n_embd, n_embd, bias=False)
        self.norm_2 = nn.LayerNorm(n_embd, bias=False)
        self.up = nn.Linear(n_embd, 4 * n_embd, bias=False)
        self.down = nn.Linear(4 * n_embd, n_embd, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm_1(x)).split(n_embd, dim=2)
        q, k, v = (z.view(b, t, n_head, c // n_head).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList(Block() for _ in range(n_layer))
        self.norm = nn.LayerNorm(n_embd, bias=False)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.wte.weight = self.lm_head.weight
        for block in self.h:
            nn.init.normal_(block.proj.weight, std=0.02 / math.sqrt(2 * n_layer))

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), device=idx.device))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.norm(x))
        return F.cross_entropy(logits.view(-1, vocab_size), targets.view(-1))


def prepare():
    data_dir.mkdir(exist_ok=True)
    corpus = np.random.default_rng(0).integers(0, vocab_size, 100 * block_size)
    corpus.astype(np.uint16).tofile(data_dir / "train.bin")


def get_batch():
    """Rows of the corpus from random places, and the same rows one token later."""
    corpus = np.memmap(data_dir / "train.bin", dtype=np.uint16, mode="r")
    places = torch.randint(len(corpus) - block_size, (batch_size,)).tolist()
    rows = np.stack([corpus[place:place + block_size + 1] for place in places]).astype(np.int64)
    both = torch.from_numpy(rows[:, :-1].copy()), torch.from_numpy(rows[:, 1:].copy())
    return tuple(t.pin_memory().to("cuda", non_blocking=True) for t in both) if on_gpu else both


def configure_optimizer(model):
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.95), fused=on_gpu)


def train(init_from):
    model, first = GPT(), 0
    if init_from == "resume":
        checkpoint = torch.load(out_dir / "ckpt.pt", map_location=device_type)
        model.load_state_dict(checkpoint["model"])
        first = checkpoint["iter_num"]
    model.to(device_type)
    scaler = torch.amp.GradScaler(device_type, enabled=on_gpu)
    optimizer = configure_optimizer(model)
    if init_from == "resume":
        optimizer.load_state_dict(checkpoint["optimizer"])
        checkpoint = None
    for iteration in range(first, first + max_iters):
        for _ in range(accumulation):
            x, y = get_batch()
            with context:
                loss = model(x, y) / accumulation
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        print(f"iter {iteration}: loss {loss.item() * accumulation:.4f}")
    out_dir.mkdir(exist_ok=True)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "iter_num": first + max_iters}, out_dir / "ckpt.pt")


prepare()
train("scratch")
train("resume")
