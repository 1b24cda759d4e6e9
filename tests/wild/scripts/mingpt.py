"""minGPT's idiom: a Trainer class with a loader that never ends and callbacks after each batch."""

import time
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

VOCAB, LENGTH, WIDTH, LAYERS = 10, 32, 128, 3


class SortDataset(Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, index):
        digits = torch.randint(VOCAB, (LENGTH // 2,))
        whole = torch.cat((digits, torch.sort(digits)[0]))
        x, y = whole[:-1].clone(), whole[1:].clone()
        y[:LENGTH // 2 - 1] = -1
        return x, y


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, WIDTH)
        self.positions = nn.Parameter(torch.zeros(1, LENGTH, WIDTH))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True, norm_first=True)
            for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, idx, targets=None):
        length = idx.size(1)
        causal = nn.Transformer.generate_square_subsequent_mask(length, device=idx.device)
        x = self.tokens(idx) + self.positions[:, :length]
        for block in self.blocks:
            x = block(x, src_mask=causal, is_causal=True)
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, VOCAB), targets.view(-1), ignore_index=-1)

    @torch.no_grad()
    def generate(self, idx, count):
        for _ in range(count):
            logits, _ = self(idx[:, -LENGTH:])
            values, _ = torch.topk(logits[:, -1], 3)
            logits = logits[:, -1].masked_fill(logits[:, -1] < values[:, [-1]], -float("inf"))
            idx = torch.cat((idx, torch.multinomial(F.softmax(logits, dim=-1), 1)), dim=1)
        return idx


class Trainer:
    def __init__(self, model, dataset, max_iters):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model, self.dataset, self.max_iters = model.to(self.device), dataset, max_iters
        self.callbacks = defaultdict(list)

    def add_callback(self, event, callback):
        self.callbacks[event].append(callback)

    def run(self):
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-4)
        loader = DataLoader(self.dataset, batch_size=64, pin_memory=True,
                            sampler=RandomSampler(self.dataset, replacement=True, num_samples=10**10))
        self.model.train()
        self.iter_num, data_iter = 0, iter(loader)
        while self.iter_num < self.max_iters:
            x, y = (t.to(self.device) for t in next(data_iter))
            _, self.loss = self.model(x, y)
            self.model.zero_grad(set_to_none=True)
            self.loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.iter_num += 1
            for callback in self.callbacks["on_batch_end"]:
                callback(self)


def tell(trainer):
    if trainer.iter_num % 2 == 0:
        print(f"{time.strftime('%X')} iter {trainer.iter_num}: loss {trainer.loss.item():.5f}")


torch.manual_seed(3407)
trainer = Trainer(GPT(), SortDataset(), max_iters=4)
trainer.add_callback("on_batch_end", tell)
trainer.run()
trainer.model.eval()
start = torch.randint(VOCAB, (2, LENGTH // 2), device=trainer.device)
print(trainer.model.generate(start, 4).tolist())
